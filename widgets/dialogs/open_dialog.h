// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/open_runs.h"
#include "widgets/plot/look.h"

#include <QDialog>

class QGridLayout;
class QLineEdit;
class QMimeData;
class QPushButton;

namespace moire::widgets {

/// Asks for the two captures of a comparison.
class OpenDialog : public QDialog
{
    Q_OBJECT
public:
    OpenDialog(const Look& look, const RunPaths& paths, QWidget* parent = nullptr);
    RunPaths paths() const;

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QLineEdit* addRow(QGridLayout* grid, int row, const QString& label, const QColor& colour);
    void browse(QLineEdit* edit);
    void check();

    QLineEdit* m_reference = nullptr;
    QLineEdit* m_target = nullptr;
    QPushButton* m_open = nullptr;
};

/// The filter of file dialogs for captures.
QString captureFilter();
/// The local files among what was dropped or pasted, at most two.
QStringList droppedCaptures(const QMimeData* data);

} // namespace moire::widgets
