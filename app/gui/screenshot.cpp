// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/screenshot.h"

#include "app/gui/drawing.h"
#include "app/gui/options.h"
#include "core/report/output_file.h"

#include <QCoreApplication>

namespace moire::gui {

namespace {

constexpr int lookInterval = 15; // ms
constexpr int calmLooks = 3;     // so many quiet turns of the event loop: layouts are done too

} // namespace

Screenshot::Screenshot(MainWindow& window, QString file, QObject* parent)
    : QObject(parent)
    , m_window(window)
    , m_file(std::move(file))
{
    m_timer.setInterval(lookInterval);
    connect(&m_timer, &QTimer::timeout, this, &Screenshot::look);
    m_timer.start();
}

void Screenshot::look()
{
    m_calm = m_window.isSettled() ? m_calm + 1 : 0;
    if (m_calm < calmLooks)
        return;
    m_timer.stop();
    if (m_window.trouble()) {
        QCoreApplication::exit(reportTrouble(*m_window.trouble()));
        return;
    }
    const auto picture = encoded(drawingOf(m_window), m_file);
    const Result<void> written =
        picture ? report::writeFile(m_file.toStdString(), *picture) : picture.error();
    QCoreApplication::exit(written ? 0 : reportTrouble(written.error()));
}

} // namespace moire::gui
