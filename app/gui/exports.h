// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/gui/drawing.h"
#include "widgets/jobs/latest_job.h"
#include "widgets/models/compared.h"
#include "widgets/models/open_runs.h"

#include <QObject>

class QFileDialog;
class QWidget;

namespace moire::gui {

/// Asks where to, and writes reports and pictures off the GUI thread.
class Exports : public QObject
{
    Q_OBJECT
public:
    explicit Exports(QWidget& window);

    void askForReport(const widgets::ComparedPointer& compared);
    /// In the form that `file`'s ending names.
    void writeReport(const widgets::ComparedPointer& compared, const QString& file);
    void askForPicture(const QString& title, const Drawing& drawing);
    void writePicture(const Drawing& drawing, const QString& file);
    /// The files that are open: nothing is ever written over them.
    void protect(const widgets::RunPaths& captures) { m_captures = captures; }
    bool isPending() const { return m_job.isPending(); }

Q_SIGNALS:
    /// What happened, in a sentence.
    void noticed(const QString& sentence);

private:
    QFileDialog* makeDialog(const QString& title, const QString& filter, const QString& file);
    void tell(const QString& file, const Result<void>& written);
    /// Says so when `file` is one of the captures.
    bool isCapture(const QString& file);

    QWidget& m_window;
    widgets::RunPaths m_captures;
    widgets::LatestJob m_job;
};

} // namespace moire::gui
