// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/gui/main_window.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

namespace moire::gui {

/// Waits until a window has nothing on its way any more, writes its picture and ends the
/// application: status 0, or 2 with one sentence on stderr. Of a live comparison also a picture
/// when half of its rows are compared, where a name for it is given, and its
/// verdict on the standard output; a daemon that cannot be reached for a while is trouble then.
class Screenshot : public QObject
{
    Q_OBJECT
public:
    Screenshot(MainWindow& window, QString file, QString liveFile, QObject* parent = nullptr);

private:
    void look();
    /// Ends the application when it cannot.
    bool write(const QString& file);

    MainWindow& m_window;
    QString m_file;
    QString m_liveFile; ///< empty: none, or written
    QTimer m_timer;
    QElapsedTimer m_clock;
    int m_calm = 0; ///< looks in a row that found nothing pending
};

} // namespace moire::gui
