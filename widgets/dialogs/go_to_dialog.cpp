// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/dialogs/go_to_dialog.h"

#include "core/base/text.h"

#include <QCompleter>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace moire::widgets {

GoToDialog::GoToDialog(const Look& look, ComparedPointer compared, const Place& from,
                       QWidget* parent)
    : QDialog(parent)
    , m_compared(std::move(compared))
    , m_from(from)
    , m_edit(new QLineEdit(siteText(*m_compared, from)))
    , m_trouble(new QLabel)
{
    setWindowTitle(QStringLiteral("Go to site"));
    constexpr int leastWidth = 520;
    setMinimumWidth(leastWidth);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(Look::gap);
    auto* label = new QLabel(
        QStringLiteral("A &site (sample/position/tap), the number of a token, or a tap:"));
    label->setBuddy(m_edit);
    m_edit->setFont(look.font(TextRole::Mono));
    m_edit->selectAll();
    QStringList taps;
    for (const diff::TapReport& tap : m_compared->report.taps)
        taps.append(QString::fromStdString(base::visibleText(tap.name)));
    auto* completer = new QCompleter(taps, m_edit);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    m_edit->setCompleter(completer);
    m_trouble->setWordWrap(true);
    m_trouble->setStyleSheet(QStringLiteral("color: %1").arg(look.theme().target.name()));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    buttons->button(QDialogButtonBox::Ok)->setText(QStringLiteral("Go"));
    buttons->button(QDialogButtonBox::Ok)->setObjectName(QStringLiteral("primary"));
    layout->addWidget(label);
    layout->addWidget(m_edit);
    layout->addWidget(m_trouble);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &GoToDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void GoToDialog::accept()
{
    const auto found = findPlace(*m_compared, m_edit->text(), m_from);
    if (!found) {
        m_trouble->setText(QString::fromStdString(found.error().text()));
        return;
    }
    m_place = *found;
    QDialog::accept();
}

} // namespace moire::widgets
