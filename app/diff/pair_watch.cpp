// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/pair_watch.h"

#include "app/diff/live_sides.h"
#include "app/terminal/duration.h"
#include "core/report/number.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

namespace moire::app {

namespace {

using live::SideState;
using live::SideStatus;
using live::Which;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds glance{100};    ///< at links and signals, while nothing comes
constexpr milliseconds shortPause{20}; ///< between two steps, at least
constexpr seconds firstWord{5};        ///< within it a daemon that is there answers
constexpr seconds shortLoss{2};        ///< a link that is lost for less is not worth a word
constexpr seconds cancelTime{15};      ///< for the daemons' last messages after a cancel

std::string nameOf(Which which)
{
    return which == Which::Reference ? "the reference" : "the target";
}

/// The option that takes up a run again.
std::string runOption(Which which)
{
    return which == Which::Reference ? "--reference-run " : "--target-run ";
}

std::string placeOf(Which which, const SideStatus& status)
{
    return nameOf(which) + " at " + status.source;
}

/// Why a side ended before its last row.
Error endedEarly(Which which, const SideStatus& status)
{
    Error error = status.trouble;
    if (error.code == Errc::Incomparable) // what that means for two runs, it does not for one
        error.code = Errc::Io;
    if (error.sentence.empty())
        error.sentence = "the run was " + std::string(live::nameOf(status.state));
    if (status.isFile)
        return error;
    if (!error.place.empty() && error.place != status.source)
        error.sentence = error.place + ": " + error.sentence;
    error.place = placeOf(which, status);
    if (error.hint.empty())
        error.hint = "The daemon's log may say more";
    return error;
}

bool isEarly(const SideStatus& status)
{
    return live::isOver(status.state) && status.state != SideState::Finished;
}

} // namespace

void PairWatch::Bell::ring()
{
    {
        const std::scoped_lock lock(mutex);
        isRung = true;
    }
    rung.notify_all();
}

void PairWatch::Bell::wait(milliseconds most)
{
    std::unique_lock lock(mutex);
    rung.wait_for(lock, most, [this] { return isRung; });
    isRung = false;
}

PairWatch::PairWatch(live::PairOptions sides, const CompareArguments& compare,
                     const LiveArguments& given)
    : m_compare(compare)
    , m_given(given)
    , m_comparison(compare.alignment, compare.comparison)
    , m_reference{Which::Reference, sides.reference.host != nullptr && sides.reference.run.empty()}
    , m_target{Which::Target, sides.target.host != nullptr && sides.target.run.empty()}
    , m_pair(std::move(sides), [this] { m_bell.ring(); })
{}

Result<void> PairWatch::follow(WorkWatch& watch)
{
    m_pair.start();
    milliseconds pause = shortPause;
    while (true) {
        // A step costs what there is, not what is new: it gets half of the time at most.
        std::this_thread::sleep_for(pause);
        m_bell.wait(glance);
        const auto begin = Clock::now();
        look(watch);
        const auto compared = compareNew(watch.stopToken());
        if (watch.stopToken().stop_requested())
            return withFindings({Errc::Cancelled, "stopped on request", {}, {}});
        auto ended = trouble();
        if (compared && m_given.stopAtFirst && m_comparison.isCertain())
            return {};
        if (ended)
            return withFindings(*std::move(ended));
        if (!compared)
            return compared;
        if (live::isOver(m_reference.status.state) && live::isOver(m_target.status.state))
            return {};
        pause =
            std::max(shortPause, std::chrono::duration_cast<milliseconds>(Clock::now() - begin));
    }
}

/// The states come before the rows: a side that is over then has all of them in its snapshot. The
/// target's comes first: when the reference has ended it, the reference's says so.
void PairWatch::look(WorkWatch& watch)
{
    m_target.status = m_pair.status(Which::Target);
    m_reference.status = m_pair.status(Which::Reference);
    for (Side* side : {&m_reference, &m_target})
        tellNews(*side);
    watch.progress().total = std::max(m_reference.status.isFile ? 0 : m_reference.status.planned,
                                      m_target.status.planned);
    watch.progress().done = m_compared;
}

void PairWatch::tellNews(Side& side) const
{
    const SideStatus& status = side.status;
    if (side.begins && !status.run.empty() && !std::exchange(side.runTold, true)
        && !m_compare.quiet)
        remark(nameOf(side.which) + " is run " + status.run + " at " + status.source
               + (status.place == 0 ? std::string()
                                    : ", behind " + report::countOf(status.place, "other"))
               + "; should this end, take it up with " + runOption(side.which) + status.run + '.');
    if (status.state == SideState::Finished && !status.isFile && !status.trouble.sentence.empty()
        && !std::exchange(side.missingTold, true))
        remark(placeOf(side.which, status) + ": " + status.trouble.text());
}

Result<void> PairWatch::compareNew(const std::stop_token& stop)
{
    if (!m_compare.repeat.empty()) // the noise floor is known at the end
        return {};
    auto reference = m_pair.snapshot(Which::Reference);
    if (!reference)
        return reference.error();
    auto target = m_pair.snapshot(Which::Target);
    if (!target)
        return target.error();
    base::Progress progress;
    const auto step = m_comparison.advance(
        {std::move(*reference), m_reference.status.state == SideState::Finished},
        {std::move(*target), m_target.status.state == SideState::Finished}, stop, progress);
    if (!step)
        return step.error();
    m_compared = step->compared;
    return {};
}

/// Why this cannot go on to the end. A target that ended with its reference only says so.
std::optional<Error> PairWatch::trouble()
{
    for (const Side* side : {&m_reference, &m_target})
        if (isEarly(side->status))
            return endedEarly(side->which, side->status);
    for (Side* side : {&m_reference, &m_target})
        if (auto lost = linkTrouble(*side))
            return lost;
    return std::nullopt;
}

std::optional<Error> PairWatch::linkTrouble(Side& side) const
{
    const SideStatus& status = side.status;
    if (status.isFile || live::isOver(status.state))
        return std::nullopt;
    if (status.link == wire::LinkState::Connected) {
        side.met = true;
        side.lostSince.reset();
        if (std::exchange(side.lossTold, false) && !m_compare.quiet)
            remark("the link to " + status.source + " is back.");
        return std::nullopt;
    }
    Error trouble = status.trouble;
    trouble.code = Errc::Io;
    trouble.place = placeOf(side.which, status);
    if (trouble.sentence.empty())
        trouble.sentence = "nobody answers there";
    if (status.link == wire::LinkState::Refused)
        return trouble;
    const auto now = Clock::now();
    if (!side.lostSince)
        side.lostSince = now;
    const auto lost = now - *side.lostSince;
    const seconds wait = side.met ? seconds(m_given.wait) : firstWord;
    if (lost >= wait) {
        trouble.hint = "Check the address and that the daemon runs";
        if (side.met) {
            trouble.sentence += ", for " + durationText(static_cast<double>(wait.count()));
            trouble.hint = "When the daemon is there again, take the run up with "
                           + runOption(side.which) + status.run;
        }
        return trouble;
    }
    if (side.met && lost >= shortLoss && !std::exchange(side.lossTold, true) && !m_compare.quiet)
        remark(trouble.text() + " It is waited for.");
    return std::nullopt;
}

/// Says how far the comparison had come.
Error PairWatch::withFindings(Error error) const
{
    if (m_compared == 0)
        return error;
    error.sentence += "; " + report::countOf(m_compared, "row") + " had been compared, with"
                      + (m_comparison.isCertain() ? " a divergence" : "out a divergence");
    return error;
}

void PairWatch::end()
{
    m_pair.cancel();
    const auto giveUp = Clock::now() + cancelTime;
    const auto waitsFor = [this](Which which) {
        const SideStatus status = m_pair.status(which);
        return !live::isOver(status.state) && status.link == wire::LinkState::Connected;
    };
    while ((waitsFor(Which::Reference) || waitsFor(Which::Target)) && Clock::now() < giveUp)
        m_bell.wait(glance);
}

} // namespace moire::app
