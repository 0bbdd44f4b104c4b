// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/cursor_details.h"

#include <QTimer>

namespace moire::widgets {

namespace {

constexpr std::size_t worstElements = 16;
constexpr std::size_t ladderLength = 10;

} // namespace

CursorDetails::CursorDetails(Cursor& cursor, QObject* parent)
    : QObject(parent)
    , m_cursor(cursor)
    , m_siteJob(this)
    , m_logitsJob(this)
    , m_routingJob(this)
{
    connect(&cursor, &Cursor::moved, this, &CursorDetails::schedule);
}

std::optional<std::size_t> CursorDetails::routerPair() const
{
    const ComparedPointer& compared = m_cursor.compared();
    if (!compared || compared->report.routerPairs.empty())
        return std::nullopt;
    const auto& routers = compared->reference->header().routers;
    const auto& pairs = compared->report.routerPairs;
    const std::size_t tap = m_cursor.place().tap;
    const std::int32_t layer =
        tap < compared->report.taps.size() ? compared->report.taps[tap].layer : -1;
    for (std::size_t i = 0; i < pairs.size(); ++i)
        if (routers[pairs[i].first].layer == layer)
            return i;
    return 0;
}

bool CursorDetails::isPending() const
{
    return m_scheduled || m_siteJob.isPending() || m_logitsJob.isPending()
           || m_routingJob.isPending();
}

void CursorDetails::schedule()
{
    if (m_scheduled)
        return;
    m_scheduled = true;
    QTimer::singleShot(0, this, &CursorDetails::read);
}

template <class T, class Inspect>
void CursorDetails::start(LatestJob& job, Detail<T>& detail, Inspect inspect,
                          void (CursorDetails::*changed)())
{
    job.start(
        [inspect](std::stop_token) -> Result<std::shared_ptr<const T>> {
            Result<T> result = inspect();
            if (!result)
                return result.error();
            return std::shared_ptr<const T>(std::make_shared<const T>(std::move(*result)));
        },
        [this, &detail, changed](Result<std::shared_ptr<const T>> result) {
            detail = result ? Detail<T>{*result, std::nullopt} : Detail<T>{nullptr, result.error()};
            Q_EMIT(this->*changed)();
        });
}

void CursorDetails::read()
{
    m_scheduled = false;
    const ComparedPointer compared = m_cursor.compared();
    const auto row = m_cursor.rowPair();
    if (!compared || !row) {
        m_siteJob.cancel();
        m_logitsJob.cancel();
        m_routingJob.cancel();
        m_site = {};
        m_logits = {};
        m_routing = {};
        Q_EMIT siteChanged();
        Q_EMIT logitsChanged();
        Q_EMIT routingChanged();
        return;
    }
    const std::size_t tap = m_cursor.place().tap;
    start(
        m_siteJob, m_site,
        [compared, row = *row, tap] {
            return diff::inspectSite(*compared->reference, *compared->target, compared->report, row,
                                     tap, worstElements);
        },
        &CursorDetails::siteChanged);
    start(
        m_logitsJob, m_logits,
        [compared, row = *row] {
            return diff::inspectLogits(*compared->reference, *compared->target, compared->report,
                                       row, ladderLength);
        },
        &CursorDetails::logitsChanged);
    if (const auto router = routerPair())
        start(
            m_routingJob, m_routing,
            [compared, row = *row, router = *router] {
                return diff::inspectRouting(*compared->reference, *compared->target,
                                            compared->report, row, router);
            },
            &CursorDetails::routingChanged);
}

} // namespace moire::widgets
