// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/comparison.h"
#include "core/diff/origin.h"
#include "core/diff/site_values.h"
#include "core/diff/tolerance_check.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace moire::diff {

namespace {

/// A piece is what is compared between two looks at the stop token: a few milliseconds' worth.
constexpr std::size_t pieceBytes = std::size_t{1} << 20U;
constexpr std::size_t largestPiece = 256;

std::size_t rowsPerPiece(const trace::Run& reference, const Alignment& alignment)
{
    std::size_t rowBytes = 1;
    for (const TapPair& pair : alignment.taps)
        rowBytes += reference.header().taps[indexOf(pair.reference)].rowBytes();
    return std::clamp<std::size_t>(pieceBytes / rowBytes, 1, largestPiece);
}

/// Pieces are handed out in row order, so that workers read neighbouring parts of the files.
class Pieces
{
public:
    Pieces(std::size_t rows, std::size_t size)
        : m_rows(rows)
        , m_size(size)
    {}
    std::optional<std::pair<std::size_t, std::size_t>> next()
    {
        const std::size_t begin = m_next.fetch_add(m_size);
        if (begin >= m_rows)
            return std::nullopt;
        return std::pair(begin, std::min(m_rows, begin + m_size));
    }

private:
    std::atomic<std::size_t> m_next{0};
    std::size_t m_rows;
    std::size_t m_size;
};

/// The first trouble of any worker ends all of them.
class Trouble
{
public:
    void report(Error error)
    {
        const std::scoped_lock lock(m_mutex);
        if (!m_error)
            m_error = std::move(error);
        m_seen.store(true);
    }
    bool seen() const { return m_seen.load(); }
    const std::optional<Error>& error() const { return m_error; }

private:
    std::mutex m_mutex;
    std::atomic<bool> m_seen{false};
    std::optional<Error> m_error;
};

void work(Comparison& comparison, Pieces& pieces, Trouble& trouble, const std::stop_token& stop,
          base::Progress& progress)
{
    while (!trouble.seen()) {
        if (stop.stop_requested()) {
            trouble.report({Errc::Cancelled, "the comparison was cancelled", {}, {}});
            return;
        }
        const auto piece = pieces.next();
        if (!piece)
            return;
        if (auto added = comparison.add(piece->first, piece->second); !added) {
            trouble.report(added.error());
            return;
        }
        progress.done.fetch_add(piece->second - piece->first);
    }
}

/// The values that the verdict shows are those that were recorded. (That no others were damaged is
/// for verify to find out: it reads every byte once more.)
Result<void> checkToldValues(const trace::Run& reference, const trace::Run& target,
                             const Alignment& alignment, const FirstDivergences& first)
{
    if (reference.header().level != trace::Level::Full
        || target.header().level != trace::Level::Full)
        return {};
    for (const auto* kind : {&first.bitwise, &first.tolerance, &first.floor, &first.nonFinite}) {
        const auto tap = *kind ? reference.findTap((*kind)->tap) : std::nullopt;
        const auto pair = tap ? pairOfTap(alignment.taps, *tap) : std::nullopt;
        if (!pair)
            continue;
        if (const auto ours = soundValues(reference, *tap, (*kind)->row); !ours)
            return ours.error();
        if (const auto theirs =
                soundValues(target, alignment.taps[*pair].target, (*kind)->targetRow);
            !theirs)
            return theirs.error();
    }
    return {};
}

} // namespace

Result<Report> compare(trace::RunPointer reference, trace::RunPointer target,
                       const AlignmentOptions& alignment, const ComparisonOptions& options,
                       unsigned threads, std::stop_token stop, base::Progress& progress)
{
    auto aligned = align(*reference, *target, alignment);
    if (!aligned)
        return aligned.error();
    if (auto checked = checkTolerance(*reference, *target, options); !checked)
        return checked.error();
    const auto pairs = std::make_shared<const Alignment>(std::move(*aligned));
    progress.done.store(0);
    progress.total.store(pairs->rows.size());

    Pieces pieces(pairs->rows.size(), rowsPerPiece(*reference, *pairs));
    Trouble trouble;
    std::vector<Comparison> parts;
    const std::size_t workers =
        std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, pairs->rows.size()));
    ComparisonOptions ours = options;
    ours.threads = threads;
    parts.emplace_back(reference, target, pairs, ours);
    while (parts.size() < workers)
        parts.push_back(parts[0].sibling());
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < workers; ++i)
            others.emplace_back([&, i] { work(parts[i], pieces, trouble, stop, progress); });
        work(parts[0], pieces, trouble, stop, progress);
    }
    // A source that lost bytes meanwhile explains any other trouble.
    for (const trace::RunPointer& run : {reference, target})
        if (auto sound = run->stillSound(); !sound)
            return sound.error();
    if (trouble.error())
        return *trouble.error();
    for (std::size_t i = 1; i < workers; ++i)
        parts[0].merge(std::move(parts[i]));
    Report report = std::move(parts[0]).report();
    if (options.firstOnly) // reads no values
        return report;
    if (auto held = checkToldValues(*reference, *target, *pairs, report.first); !held)
        return held.error();
    return report;
}

} // namespace moire::diff
