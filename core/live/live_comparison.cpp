// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/live_comparison.h"

#include "core/diff/growing_comparison.h"
#include "core/diff/tap_matching.h"
#include "core/diff/tolerance_check.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace moire::live {

namespace {

using Side = LiveComparison::Side;

/// Whether nothing more can be learnt of a row: the token that follows is known, or none does.
bool isSettled(const Side& side, trace::SampleIndex sample, std::uint32_t position)
{
    const auto tokens = side.run->tokens(sample);
    return side.over || tokens.empty() || std::size_t{position} + 1 < tokens.size()
           || !side.run->samples()[indexOf(sample)].stopReason.empty();
}

Error nothingCame(const char* which)
{
    return {Errc::Incomparable,
            std::string("nothing of the ") + which + " has come",
            {},
            "Look at what its daemon says of the run"};
}

} // namespace

class LiveComparison::State
{
public:
    State(diff::AlignmentOptions how, diff::ComparisonOptions what)
        : alignmentOptions(std::move(how))
        , options(std::move(what))
        , fold(options)
    {}

    Result<void> checkHeaders() const;
    bool mayHeal(const Error& error) const;
    Result<void> addSettled(const std::stop_token& stop, base::Progress& progress);
    bool parts() const;
    Step step(std::uint64_t before) const;

    diff::AlignmentOptions alignmentOptions;
    diff::ComparisonOptions options;
    diff::GrowingComparison fold;
    Side reference;
    Side target;
    bool headersChecked = false;
    std::shared_ptr<const diff::Alignment> alignment; ///< null: none could be made so far
    trace::RunPointer alignedReference, alignedTarget;
    bool overAndCompared = false;
    mutable std::optional<std::pair<std::size_t, bool>> asked; ///< count(), and what it told
};

/// What no row can heal.
Result<void> LiveComparison::State::checkHeaders() const
{
    diff::Alignment taps;
    if (auto matched = diff::matchTaps(*reference.run, *target.run, alignmentOptions, taps);
        !matched)
        return matched;
    if (taps.taps.empty())
        return Error{Errc::Incomparable, "the runs have no tap in common",
                     reference.run->source() + " and " + target.run->source(),
                     "Run both with taps of the same names"};
    return diff::checkTolerance(*reference.run, *target.run, options);
}

/// Whether rows or samples that are still to come may make an alignment possible.
bool LiveComparison::State::mayHeal(const Error& error) const
{
    if (reference.over && target.over)
        return false;
    const auto& patterns = alignmentOptions.tapPatterns;
    const bool ofTaps = std::find(patterns.begin(), patterns.end(), error.place) != patterns.end();
    return error.code == Errc::Incomparable || (error.code == Errc::Invalid && !ofTaps);
}

Result<void> LiveComparison::State::addSettled(const std::stop_token& stop,
                                               base::Progress& progress)
{
    const auto& rows = alignment->rows;
    progress.total.store(rows.size());
    progress.done.store(fold.count());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (fold.isCompared(i))
            continue;
        const trace::Row theirs = target.run->row(rows[i].target);
        if (!isSettled(reference, rows[i].sample, rows[i].position)
            || !isSettled(target, theirs.sample, theirs.position))
            continue;
        if (stop.stop_requested())
            return Error{Errc::Cancelled, "the comparison was cancelled", {}, {}};
        if (auto added = fold.add(i); !added)
            return added;
        progress.done.fetch_add(1);
    }
    return {};
}

/// Whether the runs chose other tokens somewhere.
bool LiveComparison::State::parts() const
{
    return alignment != nullptr
           && std::any_of(alignment->samples.begin(), alignment->samples.end(),
                          [](const auto& pair) { return pair.split.has_value(); });
}

LiveComparison::Step LiveComparison::State::step(std::uint64_t before) const
{
    return {fold.count(), fold.count() - std::min<std::uint64_t>(before, fold.count()),
            fold.differs() || parts()};
}

LiveComparison::LiveComparison(diff::AlignmentOptions alignment, diff::ComparisonOptions options)
    : m_state(std::make_unique<State>(std::move(alignment), std::move(options)))
{}

LiveComparison::~LiveComparison() = default;

Result<LiveComparison::Step> LiveComparison::advance(const Side& reference, const Side& target,
                                                     std::stop_token stop, base::Progress& progress)
{
    State& state = *m_state;
    const std::uint64_t before = state.fold.count();
    state.reference = reference;
    state.target = target;
    const bool over = reference.over && target.over;
    if (reference.run == nullptr || target.run == nullptr) {
        if (over)
            return nothingCame(reference.run == nullptr ? "reference" : "target");
        return state.step(before);
    }
    if (!state.headersChecked)
        if (auto checked = state.checkHeaders(); !checked)
            return checked.error();
    state.headersChecked = true;
    state.alignmentOptions.growing = !over;
    auto aligned = diff::align(*reference.run, *target.run, state.alignmentOptions);
    if (!aligned) {
        if (state.mayHeal(aligned.error()))
            return state.step(before);
        return aligned.error();
    }
    const auto pairs = std::make_shared<const diff::Alignment>(std::move(*aligned));
    if (auto gone = state.fold.goOn(reference.run, target.run, pairs); !gone)
        return gone.error();
    state.alignment = pairs;
    state.alignedReference = reference.run;
    state.alignedTarget = target.run;
    auto added = state.addSettled(stop, progress);
    // A source that lost bytes meanwhile explains any other trouble.
    for (const trace::RunPointer& run : {reference.run, target.run})
        if (auto sound = run->stillSound(); !sound)
            return sound.error();
    if (!added)
        return added.error();
    state.overAndCompared = over;
    return state.step(before);
}

bool LiveComparison::hasReport() const
{
    return m_state->alignment != nullptr && m_state->fold.count() > 0;
}

diff::Report LiveComparison::report() const
{
    return m_state->fold.report(m_state->overAndCompared ? m_state->options.resamples : 0);
}

trace::RunPointer LiveComparison::reference() const
{
    return m_state->alignedReference;
}

trace::RunPointer LiveComparison::target() const
{
    return m_state->alignedTarget;
}

bool LiveComparison::isCertain() const
{
    const State& state = *m_state;
    if (state.overAndCompared)
        return true;
    if (!hasReport())
        return false;
    if (state.options.tolerance == nullptr)
        return state.fold.differs() || state.parts();
    if (!state.fold.differs())
        return false;
    if (!state.asked || state.asked->first != state.fold.count()) {
        const diff::Report report = state.fold.report(0);
        // How many tokens are equal is known when the last one is.
        const bool fails =
            std::any_of(report.tolerance.begin(), report.tolerance.end(), [](const auto& outcome) {
                return outcome.failed > 0 && !outcome.criterion.starts_with("tokens");
            });
        state.asked = {state.fold.count(), fails};
    }
    return state.asked->second;
}

} // namespace moire::live
