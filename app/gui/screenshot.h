// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/gui/main_window.h"

#include <QObject>
#include <QString>
#include <QTimer>

namespace moire::gui {

/// Waits until a window has nothing on its way any more, writes its picture and ends the
/// application: status 0, or 2 with one sentence on stderr.
class Screenshot : public QObject
{
    Q_OBJECT
public:
    Screenshot(MainWindow& window, QString file, QObject* parent = nullptr);

private:
    void look();

    MainWindow& m_window;
    QString m_file;
    QTimer m_timer;
    int m_calm = 0; ///< looks in a row that found nothing pending
};

} // namespace moire::gui
