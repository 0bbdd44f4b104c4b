// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/dialogs/keys_dialog.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace moire::widgets {

KeysDialog::KeysDialog(const Look& look, const QList<QAction*>& actions, QWidget* parent)
    : QDialog(parent)
{
    setWindowTitle(QStringLiteral("Keys"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(32);
    grid->setVerticalSpacing(Look::step);
    int row = 0;
    const auto add = [&](const QString& name, const QString& keys) {
        grid->addWidget(new QLabel(name), row, 0);
        auto* label = new QLabel(keys);
        label->setFont(look.font(TextRole::MonoSmall));
        label->setStyleSheet(QStringLiteral("color: %1").arg(look.theme().dim.name()));
        grid->addWidget(label, row++, 1);
    };
    for (const QAction* action : actions) {
        if (action->shortcuts().isEmpty())
            continue;
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts())
            keys.append(key.toString(QKeySequence::NativeText));
        add(action->text().remove('&').remove(QStringLiteral("…")),
            keys.join(QStringLiteral(", ")));
    }
    add(QStringLiteral("The other run while held"), QStringLiteral("B"));
    add(QStringLiteral("Move in the heat map"), QStringLiteral("arrow keys"));
    add(QStringLiteral("Zoom and pan the heat map"), QStringLiteral("W, S, A, D, Ctrl+wheel"));
    layout->addLayout(grid);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

} // namespace moire::widgets
