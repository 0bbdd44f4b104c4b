// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/live_session.h"

#include "core/base/progress.h"
#include "widgets/models/daemon_link.h"

#include <QMetaObject>
#include <QThreadPool>

#include <utility>

namespace moire::widgets {

namespace {

constexpr int tickInterval = 100; // ms between two looks at rates and states
constexpr int pauseInterval = 30; // ms that views have to draw between two steps

Result<live::SideOptions> optionsOf(const LivePlan& plan, const SidePlan& side, bool scored)
{
    live::SideOptions options;
    options.lossless = plan.lossless;
    if (side.isFile) {
        options.file = side.file.toStdString();
        return options;
    }
    const auto link = connectionOptions(side.daemon);
    if (!link)
        return link.error();
    auto connection = wire::Connection::open(*link);
    if (!connection)
        return connection.error();
    auto request = requestOf(plan, side, scored);
    if (!request)
        return request.error();
    options.request = std::move(*request);
    options.host = live::hostOf(std::move(*connection), link->address);
    return options;
}

/// Ends off the GUI thread, whoever lets go of it last: its runs may be large mapped files, and
/// each step makes another.
ComparedPointer endedElsewhere(std::shared_ptr<const Compared> compared)
{
    const Compared* shown = compared.get();
    return {shown, [kept = std::move(compared)](const Compared*) mutable {
                QThreadPool::globalInstance()->start(
                    [last = std::move(kept)]() mutable { last.reset(); });
            }};
}

/// What a comparison failed of: a run that did not come says more than that it is not there.
Error reasonOf(const live::LivePair& pair, const Error& error)
{
    for (const auto which : {live::Which::Reference, live::Which::Target}) {
        const live::SideStatus status = pair.status(which);
        if (live::isOver(status.state) && status.rows == 0 && !status.trouble.sentence.empty())
            return status.trouble;
    }
    return error;
}

} // namespace

Result<live::PairOptions> pairOptionsOf(const LivePlan& plan)
{
    const bool scored = !plan.target.isFile;
    auto reference = optionsOf(plan, plan.reference, false);
    if (!reference)
        return reference.error();
    auto target = optionsOf(plan, plan.target, scored);
    if (!target)
        return target.error();
    return live::PairOptions{std::move(*reference), std::move(*target), scored};
}

LiveSession::LiveSession(LivePlan plan, live::PairOptions pair,
                         const diff::ComparisonOptions& options)
    : m_plan(std::move(plan))
    , m_comparison(std::make_shared<live::LiveComparison>(diff::AlignmentOptions{}, options))
    , m_pair(std::make_shared<live::LivePair>(std::move(pair), notify()))
    , m_compareJob(this)
    , m_saveJob(this)
{
    m_tick.setInterval(tickInterval);
    connect(&m_tick, &QTimer::timeout, this, &LiveSession::changed);
    m_pause.setSingleShot(true);
    m_pause.setInterval(pauseInterval);
    connect(&m_pause, &QTimer::timeout, this, [this] {
        if (m_more)
            compareNext();
    });
}

LiveSession::~LiveSession()
{
    // No thread of the pair rings a bell of an object that is gone.
    m_pair.reset();
}

live::LiveSide::Changed LiveSession::notify()
{
    return [this, bell = m_bell] {
        if (!bell->rung.exchange(true))
            QMetaObject::invokeMethod(this, &LiveSession::grown, Qt::QueuedConnection);
    };
}

void LiveSession::start()
{
    m_clock.start();
    m_tick.start();
    m_pair->start();
}

void LiveSession::cancel()
{
    m_pair->cancel();
}

double LiveSession::seconds() const
{
    constexpr double perSecond = 1000;
    return static_cast<double>(m_over              ? m_took
                               : m_clock.isValid() ? m_clock.elapsed()
                                                   : 0)
           / perSecond;
}

void LiveSession::grown()
{
    m_bell->rung = false;
    m_more = true;
    if (!m_compareJob.isPending() && !m_pause.isActive())
        compareNext();
}

void LiveSession::compareNext()
{
    if (m_broken)
        return finishStep(ComparedPointer());
    m_more = false;
    m_overTaken = m_pair->isOver();
    m_compareJob.start(
        [this, pair = m_pair,
         comparison = m_comparison](std::stop_token stop) -> Result<ComparedPointer> {
            // The states first: a side that is over now has all its rows in the snapshot.
            const bool referenceOver = live::isOver(pair->status(live::Which::Reference).state);
            const bool targetOver = live::isOver(pair->status(live::Which::Target).state);
            auto reference = pair->snapshot(live::Which::Reference);
            if (!reference)
                return reference.error();
            auto target = pair->snapshot(live::Which::Target);
            if (!target)
                return target.error();
            base::Progress progress;
            const auto step = comparison->advance({std::move(*reference), referenceOver},
                                                  {std::move(*target), targetOver}, stop, progress);
            if (!step)
                return step.error();
            m_rowsCompared = step->compared;
            if (!comparison->hasReport() || (step->added == 0 && !(referenceOver && targetOver)))
                return ComparedPointer();
            return endedElsewhere(
                indexReport(comparison->reference(), comparison->target(), comparison->report()));
        },
        [this](const Result<ComparedPointer>& result) { finishStep(result); });
}

void LiveSession::finishStep(const Result<ComparedPointer>& result)
{
    if (!result && !m_broken) {
        m_broken = true;
        Q_EMIT failed(reasonOf(*m_pair, result.error()));
    } else if (result && *result) {
        Q_EMIT compared(*result);
    }
    if ((m_overTaken || m_broken) && m_pair->isOver() && !m_over) {
        m_over = true;
        m_took = m_clock.elapsed();
        m_tick.stop();
        Q_EMIT changed();
        Q_EMIT over();
        return;
    }
    m_pause.start();
}

void LiveSession::save(live::Which which, const QString& path)
{
    m_saveJob.start([pair = m_pair, which,
                     path](std::stop_token) { return pair->save(which, path.toStdString()); },
                    [this, path](const Result<void>& result) { Q_EMIT saved(path, result); });
}

} // namespace moire::widgets
