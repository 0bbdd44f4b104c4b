// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/row_matching.h"

#include "core/base/text.h"
#include "core/diff/byte_spans.h"
#include "core/diff/sample_name.h"
#include "core/diff/token_alignment.h"

#include <algorithm>
#include <limits>

namespace moire::diff {

namespace {

using trace::Run;
using trace::SampleIndex;
using Tokens = std::span<const trace::Token>;
constexpr std::uint32_t endless = std::numeric_limits<std::uint32_t>::max();

struct Place
{
    std::uint32_t position;
    trace::RowIndex row;
};

/// The rows of every sample, by position; rows recorded twice keep their order.
std::vector<std::vector<Place>> rowsBySample(const Run& run)
{
    std::vector<std::vector<Place>> rows(run.samples().size());
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r) {
        const trace::Row row = run.row(r);
        rows[indexOf(row.sample)].push_back({row.position, r});
    }
    for (auto& ofSample : rows)
        std::stable_sort(ofSample.begin(), ofSample.end(),
                         [](const Place& a, const Place& b) { return a.position < b.position; });
    return rows;
}

std::vector<std::int32_t> idsOf(Tokens tokens)
{
    std::vector<std::int32_t> ids(tokens.size());
    std::transform(tokens.begin(), tokens.end(), ids.begin(),
                   [](const trace::Token& token) { return token.id; });
    return ids;
}

/// Stretches of positions whose rows stand for each other, in ascending order on both sides.
using Stretches = std::vector<TokenBlock>;

struct SampleAlignment
{
    TokenAlignment tokens;
    Stretches comparable;
    bool byBytes = false;
};

/// What the environments say of the two tokenizers.
enum class Tokenizers
{
    Same,
    Unknown, ///< one of them is not named
    Other
};

Tokenizers tokenizersOf(const Run& reference, const Run& target)
{
    const std::string a = reference.header().environment.text(trace::env::tokenizerDigest);
    const std::string b = target.header().environment.text(trace::env::tokenizerDigest);
    if (a.empty() || b.empty())
        return Tokenizers::Unknown;
    return a == b ? Tokenizers::Same : Tokenizers::Other;
}

/// Whether, as far as the ids are equal, one of them stands for other bytes.
bool bytesDiffer(Tokens ours, Tokens theirs)
{
    for (std::size_t i = 0; i < ours.size() && i < theirs.size() && ours[i].id == theirs[i].id; ++i)
        if (!ours[i].bytes.empty() && !theirs[i].bytes.empty() && ours[i].bytes != theirs[i].bytes)
            return true;
    return false;
}

/// Texts decide where ids cannot: other tokenizers, or a prompt that was tokenised again.
bool textDecides(Tokens ours, Tokens theirs, std::uint32_t split, bool tokenizersDiffer)
{
    if (!haveBytes(ours) || !haveBytes(theirs))
        return false;
    if (tokenizersDiffer)
        return true;
    if (ours[split].response || theirs[split].response)
        return false;
    const TokenAlignment bytes = alignBytes(ours, theirs, Vocabulary::Same);
    return !bytes.split || *bytes.split > split;
}

/// Whether every token of the shorter text stands for the same bytes as its counterpart.
bool sameThroughout(const TokenAlignment& bytes)
{
    return !bytes.split
           && std::all_of(bytes.blocks.begin(), bytes.blocks.end(),
                          [](const TokenBlock& block) { return block.sameTokens; });
}

SampleAlignment alignSample(Tokens ours, Tokens theirs, Tokenizers tokenizers)
{
    SampleAlignment result;
    result.tokens = alignTokens(idsOf(ours), idsOf(theirs));
    const bool tokenizersDiffer =
        tokenizers == Tokenizers::Other
        || (tokenizers == Tokenizers::Unknown && bytesDiffer(ours, theirs));
    const bool idsTell = !tokenizersDiffer || !haveBytes(ours) || !haveBytes(theirs)
                         || sameThroughout(alignBytes(ours, theirs, Vocabulary::Other));
    if (!result.tokens.split && idsTell) {
        result.comparable.push_back({0, 0, endless, endless});
        return result;
    }
    if (result.tokens.split && !textDecides(ours, theirs, *result.tokens.split, tokenizersDiffer)) {
        if (*result.tokens.split > 0)
            result.comparable.push_back(result.tokens.blocks.front());
        return result;
    }
    result.byBytes = true;
    result.tokens =
        alignBytes(ours, theirs, tokenizersDiffer ? Vocabulary::Other : Vocabulary::Same);
    for (const TokenBlock& block : result.tokens.blocks)
        if (block.sameTokens)
            result.comparable.push_back(block);
    return result;
}

/// What a manual point opens: its own row, then as far as the tokens are equal.
TokenBlock stretchFrom(const AlignmentPoint& point, Tokens ours, Tokens theirs)
{
    std::uint32_t length = 1;
    while (point.reference + length < ours.size() && point.target + length < theirs.size()
           && ours[point.reference + length].id == theirs[point.target + length].id)
        ++length;
    return {point.reference, point.target, length, length};
}

/// Ends a stretch where the next begins, on either side.
void endBefore(const TokenBlock& next, TokenBlock& stretch)
{
    if (next.referenceBegin <= stretch.referenceBegin || next.targetBegin <= stretch.targetBegin) {
        stretch.referenceLength = stretch.targetLength = 0;
        return;
    }
    const std::uint32_t room = std::min(next.referenceBegin - stretch.referenceBegin,
                                        next.targetBegin - stretch.targetBegin);
    stretch.referenceLength = std::min(stretch.referenceLength, room);
    stretch.targetLength = stretch.referenceLength;
}

/// Lays the points of one sample over what was found without them.
Result<void> applyPoints(const std::vector<AlignmentPoint>& points, Tokens ours, Tokens theirs,
                         Stretches& comparable)
{
    Stretches manual;
    for (const AlignmentPoint& point : points) {
        const auto trouble = [&](const char* sentence) {
            return Error{Errc::Invalid, sentence,
                         base::visibleText(point.sample) + ", " + std::to_string(point.reference)
                             + " and " + std::to_string(point.target),
                         "A point is a position of the reference and one of the target"};
        };
        if (point.reference >= ours.size() || point.target >= theirs.size())
            return trouble("the alignment point lies behind the sample's last token");
        if (!manual.empty()
            && (point.reference <= manual.back().referenceBegin
                || point.target <= manual.back().targetBegin))
            return trouble("the alignment point crosses another");
        const TokenBlock stretch = stretchFrom(point, ours, theirs);
        if (!manual.empty())
            endBefore(stretch, manual.back());
        manual.push_back(stretch);
    }
    for (TokenBlock& stretch : comparable)
        endBefore(manual.front(), stretch);
    comparable.insert(comparable.end(), manual.begin(), manual.end());
    std::erase_if(comparable, [](const TokenBlock& s) { return s.referenceLength == 0; });
    return {};
}

/// The position of the target that stands for one of the reference; calls go up.
class PositionMap
{
public:
    explicit PositionMap(const Stretches& stretches)
        : m_stretches(stretches)
    {}
    std::optional<std::uint32_t> ofReference(std::uint32_t position) const
    {
        const auto after = std::partition_point(
            m_stretches.begin(), m_stretches.end(),
            [position](const TokenBlock& s) { return s.referenceBegin <= position; });
        if (after == m_stretches.begin())
            return std::nullopt;
        const TokenBlock& stretch = *(after - 1);
        const std::uint32_t offset = position - stretch.referenceBegin;
        return offset < stretch.referenceLength ? std::optional(stretch.targetBegin + offset)
                                                : std::nullopt;
    }
    bool holdsTarget(std::uint32_t position) const
    {
        const auto after = std::partition_point(
            m_stretches.begin(), m_stretches.end(),
            [position](const TokenBlock& s) { return s.targetBegin <= position; });
        return after != m_stretches.begin()
               && position - (after - 1)->targetBegin < (after - 1)->targetLength;
    }

private:
    const Stretches& m_stretches;
};

/// Takes the rows that stand for nothing off `rows`; how many they were.
template <class Stays>
std::uint64_t dropOthers(std::vector<Place>& rows, Stays stays)
{
    return std::erase_if(rows, [&](const Place& place) { return !stays(place.position); });
}

void pairRows(const std::vector<Place>& ours, const std::vector<Place>& theirs,
              const PositionMap& map, SampleIndex sample, Alignment& alignment)
{
    std::size_t a = 0;
    std::size_t b = 0;
    while (a < ours.size() && b < theirs.size()) {
        const std::uint32_t wanted = *map.ofReference(ours[a].position);
        if (wanted < theirs[b].position) {
            ++a;
            ++alignment.summary.rowsOnlyReference;
        } else if (theirs[b].position < wanted) {
            ++b;
            ++alignment.summary.rowsOnlyTarget;
        } else {
            alignment.rows.push_back({ours[a].row, theirs[b].row, sample, ours[a].position});
            ++a;
            ++b;
        }
    }
    alignment.summary.rowsOnlyReference += ours.size() - a;
    alignment.summary.rowsOnlyTarget += theirs.size() - b;
}

/// Every row has read a token. What grows with the positions, curves above all, is bounded by the
/// tokens that are there. `rows` are in the order of positions.
Result<void> checkPositions(const Run& run, SampleIndex sample, const std::vector<Place>& rows)
{
    // A sample without any token may still be laid over another, as far as a context may reach.
    constexpr std::size_t longestContext = std::size_t{1} << 20U;
    const std::size_t tokens = run.tokens(sample).size();
    if (rows.empty() || rows.back().position < (tokens == 0 ? longestContext : tokens))
        return {};
    return Error{Errc::Damaged, "a row stands at a position without a token",
                 base::visibleText(sampleName(run, sample)) + '/'
                     + std::to_string(rows.back().position) + " in " + run.source(),
                 "moire-diff verify lists all that is damaged; capture it again"};
}

class RowMatcher
{
public:
    RowMatcher(const Run& reference, const Run& target, const AlignmentOptions& options,
               Alignment& alignment)
        : m_reference(reference)
        , m_target(target)
        , m_options(options)
        , m_alignment(alignment)
        , m_ours(rowsBySample(reference))
        , m_theirs(rowsBySample(target))
        , m_tokenizers(tokenizersOf(reference, target))
    {}

    Result<void> sample(Alignment::SamplePair& pair);
    Result<void> checkPoints() const;
    /// `wanted` rows of samples without a counterpart count as left over.
    void finish();

private:
    std::vector<AlignmentPoint> pointsOf(trace::SampleIndex sample) const;
    void remark(trace::SampleIndex sample, const SampleAlignment& aligned, Tokens ours);
    void noteTokens(Tokens ours, Tokens theirs);

    const Run& m_reference;
    const Run& m_target;
    const AlignmentOptions& m_options;
    Alignment& m_alignment;
    std::vector<std::vector<Place>> m_ours;
    std::vector<std::vector<Place>> m_theirs;
    Tokenizers m_tokenizers;
    std::size_t m_manual = 0;
    std::size_t m_withoutTokens = 0; ///< samples, on either side
    std::size_t m_withoutBytes = 0;  ///< samples of two tokenizers whose ids alone are known
};

Result<void> RowMatcher::checkPoints() const
{
    for (const AlignmentPoint& point : m_options.points)
        if (std::none_of(m_alignment.samples.begin(), m_alignment.samples.end(),
                         [&](const Alignment::SamplePair& pair) {
                             return findSampleNamed(m_reference, point.sample) == pair.reference;
                         }))
            return Error{Errc::Invalid, "an alignment point names a sample that is not compared",
                         base::visibleText(point.sample),
                         "List the samples with: moire-diff info FILE"};
    return {};
}

std::vector<AlignmentPoint> RowMatcher::pointsOf(trace::SampleIndex sample) const
{
    std::vector<AlignmentPoint> points;
    std::copy_if(m_options.points.begin(), m_options.points.end(), std::back_inserter(points),
                 [&](const AlignmentPoint& point) {
                     return findSampleNamed(m_reference, point.sample) == sample;
                 });
    std::sort(points.begin(), points.end(), [](const AlignmentPoint& a, const AlignmentPoint& b) {
        return std::pair(a.reference, a.target) < std::pair(b.reference, b.target);
    });
    return points;
}

void RowMatcher::remark(trace::SampleIndex sample, const SampleAlignment& aligned, Tokens ours)
{
    AlignmentSummary& summary = m_alignment.summary;
    if (aligned.byBytes)
        ++summary.tokenisedDifferently;
    const auto split = aligned.tokens.split;
    if (split && !ours[*split].response)
        summary.remarks.push_back("The prompts of sample " + sampleName(m_reference, sample)
                                  + " differ at token " + std::to_string(*split));
}

/// Counts the samples whose tokens, or whose tokens' bytes, were not recorded.
void RowMatcher::noteTokens(Tokens ours, Tokens theirs)
{
    AlignmentSummary& summary = m_alignment.summary;
    if (ours.empty() || theirs.empty()) {
        ++m_withoutTokens;
        summary.tokensOnlyReference += ours.empty() ? 0 : 1;
        summary.tokensOnlyTarget += theirs.empty() ? 0 : 1;
    } else if (m_tokenizers == Tokenizers::Other && (!haveBytes(ours) || !haveBytes(theirs))) {
        ++m_withoutBytes;
    }
}

Result<void> RowMatcher::sample(Alignment::SamplePair& pair)
{
    AlignmentSummary& summary = m_alignment.summary;
    auto& a = m_ours[indexOf(pair.reference)];
    auto& b = m_theirs[indexOf(pair.target)];
    const Tokens ours = m_reference.tokens(pair.reference);
    const Tokens theirs = m_target.tokens(pair.target);
    if (auto sound = checkPositions(m_reference, pair.reference, a); !sound)
        return sound;
    if (auto sound = checkPositions(m_target, pair.target, b); !sound)
        return sound;
    noteTokens(ours, theirs);
    SampleAlignment aligned = alignSample(ours, theirs, m_tokenizers);
    if (const auto points = pointsOf(pair.reference); !points.empty()) {
        if (auto applied = applyPoints(points, ours, theirs, aligned.comparable); !applied)
            return applied;
        m_manual += points.size();
    }
    pair.split = aligned.tokens.split;
    pair.targetSplit = aligned.tokens.targetSplit;
    remark(pair.reference, aligned, ours);

    const PositionMap map(aligned.comparable);
    const std::uint64_t dropped = dropOthers(
        a, [&](std::uint32_t position) { return map.ofReference(position).has_value(); });
    const std::uint64_t theirDropped =
        dropOthers(b, [&](std::uint32_t position) { return map.holdsTarget(position); });
    summary.rowsNotComparableReference += dropped;
    summary.rowsNotComparableTarget += theirDropped;
    pair.notComparable = dropped + theirDropped;
    pair.blocks = std::move(aligned.tokens.blocks);
    pairRows(a, b, map, pair.reference, m_alignment);
    return {};
}

void RowMatcher::finish()
{
    std::vector<bool> ours(m_ours.size(), false);
    std::vector<bool> theirs(m_theirs.size(), false);
    for (const Alignment::SamplePair& pair : m_alignment.samples)
        ours[indexOf(pair.reference)] = theirs[indexOf(pair.target)] = true;
    const auto leftOver = [&](const Run& run, const std::vector<bool>& met,
                              const std::vector<std::vector<Place>>& rows) {
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto& patterns = m_options.samplePatterns;
            const bool wanted =
                patterns.empty()
                || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
                       return base::globMatches(pattern, run.samples()[i].id);
                   });
            count += !met[i] && wanted ? rows[i].size() : 0;
        }
        return count;
    };
    m_alignment.summary.rowsOnlyReference += leftOver(m_reference, ours, m_ours);
    m_alignment.summary.rowsOnlyTarget += leftOver(m_target, theirs, m_theirs);
    if (const std::uint64_t byBytes = m_alignment.summary.tokenisedDifferently; byBytes > 0)
        m_alignment.summary.remarks.push_back(
            std::to_string(byBytes) + (byBytes == 1 ? " sample is" : " samples are")
            + " tokenised differently and compared where tokens stand for the same bytes");
    const auto samplesText = [](std::size_t count) {
        return std::to_string(count) + (count == 1 ? " sample" : " samples");
    };
    if (m_withoutTokens > 0)
        m_alignment.summary.remarks.push_back("Of " + samplesText(m_withoutTokens)
                                              + " the tokens were not recorded in both runs, and "
                                                "rows are matched by position alone");
    if (m_withoutBytes > 0)
        m_alignment.summary.remarks.push_back("Of " + samplesText(m_withoutBytes)
                                              + " the tokens' bytes were not recorded in both "
                                                "runs, and ids are taken to mean the same");
    if (m_manual > 0)
        m_alignment.summary.remarks.push_back(
            std::to_string(m_manual) + (m_manual == 1 ? " position was" : " positions were")
            + " aligned by hand");
}

} // namespace

Result<void> matchRows(const trace::Run& reference, const trace::Run& target,
                       const AlignmentOptions& options, Alignment& alignment)
{
    RowMatcher matcher(reference, target, options, alignment);
    if (auto checked = matcher.checkPoints(); !checked)
        return checked;
    for (Alignment::SamplePair& pair : alignment.samples)
        if (auto matched = matcher.sample(pair); !matched)
            return matched;
    matcher.finish();
    return {};
}

} // namespace moire::diff
