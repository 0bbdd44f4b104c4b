// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/inspect.h"
#include "widgets/jobs/latest_job.h"
#include "widgets/models/cursor.h"

#include <QObject>

#include <memory>
#include <optional>

namespace moire::widgets {

/// What was read of a place: not yet or nothing there, a value, or why it could not be read.
template <class T>
struct Detail
{
    std::shared_ptr<const T> value;
    std::optional<Error> error;
};

/// Reads what stands at the cursor – site, logits row, routing – off the GUI thread. Moves are
/// gathered: one read for the place where the cursor comes to rest in an event-loop turn; the last
/// values stand until new ones come.
class CursorDetails : public QObject
{
    Q_OBJECT
public:
    explicit CursorDetails(Cursor& cursor, QObject* parent = nullptr);

    const Detail<diff::SiteDetail>& site() const { return m_site; }
    const Detail<diff::LogitsDetail>& logits() const { return m_logits; }
    const Detail<diff::RoutingDetail>& routing() const { return m_routing; }
    /// The router pair of the cursor's layer (the first, where that has none).
    std::optional<std::size_t> routerPair() const;
    bool isPending() const;

Q_SIGNALS:
    void siteChanged();
    void logitsChanged();
    void routingChanged();

private:
    void schedule();
    void read();
    template <class T, class Inspect>
    void start(LatestJob& job, Detail<T>& detail, Inspect inspect,
               void (CursorDetails::*changed)());

    Cursor& m_cursor;
    Detail<diff::SiteDetail> m_site;
    Detail<diff::LogitsDetail> m_logits;
    Detail<diff::RoutingDetail> m_routing;
    bool m_scheduled = false;
    LatestJob m_siteJob;
    LatestJob m_logitsJob;
    LatestJob m_routingJob;
};

} // namespace moire::widgets
