// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/opener.h"

namespace moire::gui {

using widgets::ComparedPointer;

namespace {

constexpr int pollInterval = 100; // ms

} // namespace

Opener::Opener(QObject* parent)
    : QObject(parent)
    , m_openJob(this)
    , m_measureJob(this)
{
    m_timer.setInterval(pollInterval);
    connect(&m_timer, &QTimer::timeout, this, &Opener::poll);
}

void Opener::start(const widgets::RunPaths& paths, const widgets::Judging& judging)
{
    m_measureJob.cancel();
    m_progress = std::make_shared<base::Progress>();
    m_timer.start();
    m_openJob.start([paths, progress = m_progress](
                        std::stop_token stop) { return widgets::openRuns(paths, stop, *progress); },
                    [this, judging](const Result<ComparedPointer>& compared) {
                        if (!compared)
                            return fail(compared.error());
                        measure(*compared, judging);
                        Q_EMIT opened(*compared);
                    });
}

void Opener::measure(const ComparedPointer& compared, const widgets::Judging& judging)
{
    m_progress = std::make_shared<base::Progress>();
    m_measureJob.start(
        [compared, judging, progress = m_progress](std::stop_token stop) {
            return widgets::measureRuns(compared, judging, stop, *progress);
        },
        [this](const Result<ComparedPointer>& result) {
            if (!result)
                return fail(result.error());
            m_timer.stop();
            Q_EMIT measured(*result);
        });
}

void Opener::fail(const Error& error)
{
    m_timer.stop();
    Q_EMIT failed(error);
}

void Opener::poll()
{
    const auto total = m_progress->total.load();
    if (total > 0)
        Q_EMIT progressed(static_cast<double>(m_progress->done.load())
                          / static_cast<double>(total));
}

} // namespace moire::gui
