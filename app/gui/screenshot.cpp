// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/screenshot.h"

#include "app/gui/drawing.h"
#include "app/gui/options.h"
#include "core/base/text.h"
#include "core/report/output_file.h"

#include <QCoreApplication>

#include <cstdio>
#include <utility>

namespace moire::gui {

namespace {

constexpr int lookInterval = 15; // ms
constexpr int calmLooks = 3;     // so many quiet turns of the event loop: layouts are done too
constexpr double half = 0.5;
constexpr qint64 reachTime = 20'000; // ms: nobody is there to give up on a daemon that is away

} // namespace

Screenshot::Screenshot(MainWindow& window, QString file, QString liveFile, QObject* parent)
    : QObject(parent)
    , m_window(window)
    , m_file(std::move(file))
    , m_liveFile(std::move(liveFile))
{
    m_timer.setInterval(lookInterval);
    connect(&m_timer, &QTimer::timeout, this, &Screenshot::look);
    m_timer.start();
    m_clock.start();
}

bool Screenshot::write(const QString& file)
{
    const auto picture = encoded(drawingOf(m_window), file);
    const Result<void> written =
        picture ? report::writeFile(file.toStdString(), *picture) : picture.error();
    if (!written)
        QCoreApplication::exit(reportTrouble(written.error()));
    return bool(written);
}

void Screenshot::look()
{
    if (!m_liveFile.isEmpty() && m_window.liveShare() >= half && m_window.cursor().compared())
        if (!write(std::exchange(m_liveFile, QString())))
            return m_timer.stop();
    if (m_clock.elapsed() > reachTime)
        if (const auto unreached = m_window.liveUnreached()) {
            m_timer.stop();
            QCoreApplication::exit(reportTrouble(*unreached));
            return;
        }
    m_calm = m_window.isSettled() ? m_calm + 1 : 0;
    if (m_calm < calmLooks)
        return;
    m_timer.stop();
    if (m_window.trouble()) {
        QCoreApplication::exit(reportTrouble(*m_window.trouble()));
        return;
    }
    if (!write(m_file))
        return;
    // What no file keeps is said.
    if (const std::string verdict = m_window.liveVerdict(); !verdict.empty())
        std::printf("%s\n", base::visibleText(verdict).c_str());
    QCoreApplication::exit(0);
}

} // namespace moire::gui
