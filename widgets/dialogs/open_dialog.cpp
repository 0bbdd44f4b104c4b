// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/dialogs/open_dialog.h"

#include <QDialogButtonBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>

namespace moire::widgets {

QString captureFilter()
{
    return QStringLiteral("Captures (*.moire);;All files (*)");
}

QStringList droppedCaptures(const QMimeData* data)
{
    QStringList files;
    constexpr qsizetype most = 2;
    for (const QUrl& url : data->urls())
        if (url.isLocalFile() && files.size() < most)
            files.append(url.toLocalFile());
    return files;
}

OpenDialog::OpenDialog(const Look& look, const RunPaths& paths, QWidget* parent)
    : QDialog(parent)
{
    setWindowTitle(QStringLiteral("Open two captures"));
    setAcceptDrops(true);
    constexpr int leastWidth = 560;
    setMinimumWidth(leastWidth);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(Look::inset);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(Look::gap);
    grid->setVerticalSpacing(Look::gap);
    m_reference = addRow(grid, 0, QStringLiteral("&Reference"), look.theme().reference);
    m_target = addRow(grid, 1, QStringLiteral("&Target"), look.theme().target);
    m_reference->setText(paths.reference);
    m_target->setText(paths.target);
    layout->addLayout(grid);
    auto* hint = new QLabel(QStringLiteral(
        "The reference is what the target is held against. Two files can also be dropped here."));
    hint->setFont(look.font(TextRole::Small));
    hint->setStyleSheet(QStringLiteral("color: %1").arg(look.theme().dim.name()));
    layout->addWidget(hint);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel);
    m_open = buttons->button(QDialogButtonBox::Open);
    m_open->setObjectName(QStringLiteral("primary"));
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    check();
}

QLineEdit* OpenDialog::addRow(QGridLayout* grid, int row, const QString& label,
                              const QColor& colour)
{
    auto* name = new QLabel(label);
    name->setStyleSheet(QStringLiteral("color: %1; font-weight: 600").arg(colour.name()));
    auto* edit = new QLineEdit;
    edit->setPlaceholderText(QStringLiteral("a .moire file"));
    name->setBuddy(edit);
    auto* button = new QPushButton(QStringLiteral("Browse…"));
    grid->addWidget(name, row, 0);
    grid->addWidget(edit, row, 1);
    grid->addWidget(button, row, 2);
    connect(button, &QPushButton::clicked, this, [this, edit] { browse(edit); });
    connect(edit, &QLineEdit::textChanged, this, &OpenDialog::check);
    return edit;
}

void OpenDialog::browse(QLineEdit* edit)
{
    const QString near = edit->text().isEmpty() ? m_reference->text() : edit->text();
    auto* dialog = new QFileDialog(this, QStringLiteral("Choose a capture"), near, captureFilter());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, edit, &QLineEdit::setText);
    dialog->open();
}

void OpenDialog::check()
{
    if (m_open != nullptr)
        m_open->setEnabled(!m_reference->text().trimmed().isEmpty()
                           && !m_target->text().trimmed().isEmpty());
}

RunPaths OpenDialog::paths() const
{
    return {m_reference->text().trimmed(), m_target->text().trimmed()};
}

void OpenDialog::dragEnterEvent(QDragEnterEvent* event)
{
    if (!droppedCaptures(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void OpenDialog::dropEvent(QDropEvent* event)
{
    const QStringList files = droppedCaptures(event->mimeData());
    if (files.size() > 1) {
        m_reference->setText(files[0]);
        m_target->setText(files[1]);
    } else if (!files.isEmpty()) {
        (m_reference->text().isEmpty() ? m_reference : m_target)->setText(files[0]);
    }
    event->acceptProposedAction();
}

} // namespace moire::widgets
