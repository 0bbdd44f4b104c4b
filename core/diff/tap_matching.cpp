// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/tap_matching.h"

#include "core/base/text.h"
#include "core/diff/tap_mapping.h"
#include "core/diff/tap_names.h"
#include "core/settings/settings_file.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

namespace moire::diff {

using settings::settingError;

namespace {

/// One run's taps while they are matched.
struct Side
{
    explicit Side(const trace::Run& run)
        : taps(run.header().taps)
        , taken(taps.size(), false)
    {
        for (std::size_t i = 0; i < taps.size(); ++i) {
            byName.emplace(taps[i].name, i);
            hubs.push_back(hubName(taps[i].name));
            // One rank's part of a sum over two is not one of a sum over four.
            if (taps[i].partial)
                hubs.back() = taps[i].name + " of "
                              + run.header().environment.text(trace::env::tpSize) + " ranks";
        }
        for (std::size_t i = 0; i < taps.size(); ++i) {
            if (hubs[i])
                hubs[i] = activationOf(*hubs[i]);
            if (hubs[i])
                byHubName.emplace(*hubs[i], i);
        }
    }

    /// Where gate and up are joined, the activation is multiplied already: it is what down reads.
    std::string activationOf(const std::string& hub) const
    {
        constexpr std::string_view activation = ".act_fn.out";
        if (!hub.ends_with(activation))
            return hub;
        const std::string module = hub.substr(0, hub.size() - activation.size());
        const bool joined =
            std::find(hubs.begin(), hubs.end(), module + ".gate_up_proj.out") != hubs.end();
        return joined ? module + ".down_proj.in" : hub;
    }

    std::optional<std::size_t> free(std::string_view hub) const
    {
        const auto found = byHubName.find(hub);
        return found == byHubName.end() || taken[found->second] ? std::nullopt
                                                                : std::optional(found->second);
    }

    const std::vector<trace::Tap>& taps;
    std::vector<bool> taken;
    std::vector<std::optional<std::string>> hubs; ///< what each stands for, by its own name
    std::unordered_map<std::string_view, std::size_t> byName;
    std::map<std::string, std::size_t, std::less<>> byHubName;
};

/// The key-value heads that either environment tells.
std::uint32_t keyValueHeads(const trace::Run& reference, const trace::Run& target)
{
    for (const trace::Run* run : {&reference, &target}) {
        const std::string text = run->header().environment.text(trace::env::keyValueHeads);
        std::uint32_t heads = 0;
        const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), heads);
        if (problem == std::errc() && stop == text.data() + text.size() && heads > 0)
            return heads;
    }
    return 0;
}

class TapMatcher
{
public:
    TapMatcher(const trace::Run& reference, const trace::Run& target,
               const AlignmentOptions& options, Alignment& alignment)
        : m_ours(reference)
        , m_theirs(target)
        , m_heads(keyValueHeads(reference, target))
        , m_patterns(options.tapPatterns)
        , m_alignment(alignment)
    {}

    Result<void> byMapping(const TapMapping& mapping);
    void byName();
    void byHubName();
    void fused();
    void finish();

private:
    bool passes(std::string_view name) const
    {
        return m_patterns.empty()
               || std::any_of(m_patterns.begin(), m_patterns.end(),
                              [&](const std::string& p) { return base::globMatches(p, name); });
    }
    /// Pairs a whole tap, or leaves both out when no pattern is like either name.
    void pair(std::size_t ours, std::size_t theirs)
    {
        slice(ours, 0, theirs, 0, m_ours.taps[ours].width);
        m_ours.taken[ours] = m_theirs.taken[theirs] = true;
    }
    void slice(std::size_t ours, std::uint32_t ourOffset, std::size_t theirs,
               std::uint32_t theirOffset, std::uint32_t width);
    Result<void> addMapped(const TapMapping& mapping, const MappingEntry& entry, std::size_t ours,
                           std::size_t theirs);
    /// The separate counterparts of a fused tap; empty when one is missing.
    std::vector<std::size_t> partsOf(const FusedModule& module, std::uint32_t width,
                                     const Side& others) const;
    template <class Add>
    void cut(const FusedModule& module, const std::vector<std::size_t>& parts, const Side& others,
             Add add) const;
    void noteRenamed(std::size_t ours, std::size_t theirs);
    using Slices = std::vector<Slice>;
    /// Names what of a run has no counterpart: taps, and what slices leave of one: "y.out[10:50]".
    void listRest(const Side& side, std::vector<Slices>& compared,
                  std::vector<std::string>& names) const;

    Side m_ours;
    Side m_theirs;
    std::uint32_t m_heads;
    const std::vector<std::string>& m_patterns;
    Alignment& m_alignment;
    std::size_t m_renamed = 0;
    std::string m_example;
};

void TapMatcher::slice(std::size_t ours, std::uint32_t ourOffset, std::size_t theirs,
                       std::uint32_t theirOffset, std::uint32_t width)
{
    if (passes(m_ours.taps[ours].name) || passes(m_theirs.taps[theirs].name))
        m_alignment.taps.push_back({static_cast<trace::TapIndex>(ours),
                                    static_cast<trace::TapIndex>(theirs), ourOffset, theirOffset,
                                    width});
}

void TapMatcher::noteRenamed(std::size_t ours, std::size_t theirs)
{
    if (m_ours.taps[ours].name == m_theirs.taps[theirs].name)
        return; // a mapping may cut a tap without renaming it
    if (m_renamed++ == 0)
        m_example = m_ours.taps[ours].name + " of the reference is " + m_theirs.taps[theirs].name
                    + " of the target";
}

Result<void> TapMatcher::addMapped(const TapMapping& mapping, const MappingEntry& entry,
                                   std::size_t ours, std::size_t theirs)
{
    const trace::Tap& ourTap = m_ours.taps[ours];
    const trace::Tap& theirTap = m_theirs.taps[theirs];
    const Slice a = entry.referenceSlice.value_or(Slice{0, ourTap.width});
    const Slice b = entry.targetSlice.value_or(Slice{0, theirTap.width});
    const auto trouble = [&](const std::string& sentence) {
        return settingError(mapping.file(), entry.line, sentence);
    };
    for (const auto& [tap, part] : {std::pair(&ourTap, a), std::pair(&theirTap, b)})
        if (part.end > tap->width)
            return trouble("the slice ends at " + std::to_string(part.end) + ", and " + tap->name
                           + " has " + std::to_string(tap->width) + " elements");
    if (a.end - a.begin != b.end - b.begin)
        return trouble(ourTap.name + " would be compared over " + std::to_string(a.end - a.begin)
                       + " elements with " + std::to_string(b.end - b.begin) + " of "
                       + theirTap.name);
    for (const TapPair& pair : m_alignment.taps) {
        const bool sameTarget = indexOf(pair.target) == theirs && pair.targetOffset < b.end
                                && b.begin < pair.targetOffset + pair.width;
        const bool sameReference = indexOf(pair.reference) == ours && pair.referenceOffset < a.end
                                   && a.begin < pair.referenceOffset + pair.width;
        if (sameTarget)
            return trouble("maps two taps to one: " + theirTap.name + " stands for "
                           + m_ours.taps[indexOf(pair.reference)].name + " already");
        if (sameReference)
            return trouble("maps one tap to two: " + ourTap.name + " stands for "
                           + m_theirs.taps[indexOf(pair.target)].name + " already");
    }
    slice(ours, a.begin, theirs, b.begin, a.end - a.begin);
    m_ours.taken[ours] = m_theirs.taken[theirs] = true;
    noteRenamed(ours, theirs);
    return {};
}

Result<void> TapMatcher::byMapping(const TapMapping& mapping)
{
    for (const MappingEntry& entry : mapping.entries()) {
        std::size_t met = 0;
        for (std::size_t i = 0; i < m_ours.taps.size(); ++i) {
            const auto stars = starsOf(entry.reference, m_ours.taps[i].name);
            if (!stars)
                continue;
            std::string name;
            std::size_t next = 0;
            for (const char c : entry.target)
                name += c == '*' && next < stars->size() ? (*stars)[next++] : std::string(1, c);
            const auto found = m_theirs.byName.find(name);
            if (found == m_theirs.byName.end())
                continue;
            if (auto added = addMapped(mapping, entry, i, found->second); !added)
                return added;
            ++met;
        }
        if (met == 0)
            return settingError(
                mapping.file(), entry.line,
                "no tap of the reference like “" + base::visibleText(entry.reference)
                    + "” has a tap of the target like “" + base::visibleText(entry.target) + "”",
                "List the taps with: moire-diff info FILE");
    }
    return {};
}

void TapMatcher::byName()
{
    for (std::size_t i = 0; i < m_ours.taps.size(); ++i) {
        const trace::Tap& tap = m_ours.taps[i];
        const auto found = m_theirs.byName.find(tap.name);
        if (m_ours.taken[i] || found == m_theirs.byName.end() || m_theirs.taken[found->second]
            || m_ours.hubs[i] != m_theirs.hubs[found->second]) // one word, two meanings
            continue;
        const trace::Tap& other = m_theirs.taps[found->second];
        if (other.width == tap.width)
            pair(i, found->second);
        else if (passes(tap.name))
            m_alignment.summary.remarks.push_back(
                "Tap " + tap.name + " is " + std::to_string(tap.width)
                + " wide in the reference and " + std::to_string(other.width)
                + " in the target: not compared");
    }
}

void TapMatcher::byHubName()
{
    for (std::size_t i = 0; i < m_ours.taps.size(); ++i) {
        const auto& hub = m_ours.hubs[i];
        const auto other = hub && !m_ours.taken[i] ? m_theirs.free(*hub) : std::nullopt;
        if (!other || m_ours.taps[i].name == m_theirs.taps[*other].name
            || m_ours.taps[i].width != m_theirs.taps[*other].width)
            continue;
        pair(i, *other);
        noteRenamed(i, *other);
    }
}

std::vector<std::size_t> TapMatcher::partsOf(const FusedModule& module, std::uint32_t width,
                                             const Side& others) const
{
    std::vector<std::size_t> parts;
    std::uint64_t sum = 0;
    for (const std::string& name : module.parts) {
        const auto part = others.free(name);
        if (!part)
            return {};
        parts.push_back(*part);
        sum += others.taps[*part].width;
    }
    const bool divides =
        module.layout == FusedLayout::Joined
        || (m_heads > 0 && std::all_of(parts.begin(), parts.end(), [&](std::size_t part) {
                return others.taps[part].width % m_heads == 0;
            }));
    return sum == width && divides ? parts : std::vector<std::size_t>();
}

/// Calls add(part, offset in the part, offset in the fused tap, width) for every stretch.
template <class Add>
void TapMatcher::cut(const FusedModule& module, const std::vector<std::size_t>& parts,
                     const Side& others, Add add) const
{
    const std::uint32_t groups = module.layout == FusedLayout::Joined ? 1 : m_heads;
    std::uint32_t offset = 0;
    for (std::uint32_t group = 0; group < groups; ++group)
        for (const std::size_t part : parts) {
            const std::uint32_t width = others.taps[part].width / groups;
            add(part, group * width, offset, width);
            offset += width;
        }
}

void TapMatcher::fused()
{
    for (std::size_t i = 0; i < m_ours.taps.size(); ++i) {
        const auto& hub = m_ours.hubs[i];
        const auto module = hub && !m_ours.taken[i] ? fusedModule(*hub) : std::nullopt;
        const auto parts =
            module ? partsOf(*module, m_ours.taps[i].width, m_theirs) : std::vector<std::size_t>();
        if (parts.empty())
            continue;
        cut(*module, parts, m_theirs,
            [&](std::size_t part, std::uint32_t inPart, std::uint32_t offset, std::uint32_t width) {
                slice(i, offset, part, inPart, width);
                m_theirs.taken[part] = true;
            });
        m_ours.taken[i] = true;
        for (const std::size_t part : parts)
            noteRenamed(i, part);
    }
    for (std::size_t i = 0; i < m_theirs.taps.size(); ++i) {
        const auto& hub = m_theirs.hubs[i];
        const auto module = hub && !m_theirs.taken[i] ? fusedModule(*hub) : std::nullopt;
        const auto parts =
            module ? partsOf(*module, m_theirs.taps[i].width, m_ours) : std::vector<std::size_t>();
        if (parts.empty())
            continue;
        cut(*module, parts, m_ours,
            [&](std::size_t part, std::uint32_t inPart, std::uint32_t offset, std::uint32_t width) {
                slice(part, inPart, i, offset, width);
                m_ours.taken[part] = true;
            });
        m_theirs.taken[i] = true;
        for (const std::size_t part : parts)
            noteRenamed(part, i);
    }
}

void TapMatcher::listRest(const Side& side, std::vector<Slices>& compared,
                          std::vector<std::string>& names) const
{
    for (std::size_t i = 0; i < side.taps.size(); ++i) {
        const trace::Tap& tap = side.taps[i];
        if (!passes(tap.name))
            continue;
        if (!side.taken[i]) {
            names.push_back(tap.name);
            continue;
        }
        std::sort(compared[i].begin(), compared[i].end(),
                  [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
        compared[i].push_back({tap.width, tap.width});
        std::uint32_t end = 0;
        for (const Slice& slice : compared[i]) {
            if (slice.begin > end)
                names.push_back(tap.name + '[' + std::to_string(end) + ':'
                                + std::to_string(slice.begin) + ']');
            end = slice.end;
        }
    }
}

void TapMatcher::finish()
{
    AlignmentSummary& summary = m_alignment.summary;
    if (m_renamed > 0)
        summary.remarks.push_back(std::to_string(m_renamed)
                                  + (m_renamed == 1 ? " tap is" : " taps are")
                                  + " compared under another name (" + m_example + ')');
    std::vector<Slices> ours(m_ours.taps.size());
    std::vector<Slices> theirs(m_theirs.taps.size());
    for (const TapPair& pair : m_alignment.taps) {
        ours[indexOf(pair.reference)].push_back(
            {pair.referenceOffset, pair.referenceOffset + pair.width});
        theirs[indexOf(pair.target)].push_back({pair.targetOffset, pair.targetOffset + pair.width});
    }
    listRest(m_ours, ours, summary.tapsOnlyReference);
    listRest(m_theirs, theirs, summary.tapsOnlyTarget);
    std::sort(m_alignment.taps.begin(), m_alignment.taps.end(),
              [](const TapPair& a, const TapPair& b) {
                  return std::pair(a.reference, a.referenceOffset)
                         < std::pair(b.reference, b.referenceOffset);
              });
}

bool addStars(std::string_view pattern, std::string_view name, std::vector<std::string>& stars)
{
    if (pattern.empty())
        return name.empty();
    if (pattern.front() != '*')
        return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front())
               && addStars(pattern.substr(1), name.substr(1), stars);
    for (std::size_t length = 0; length <= name.size(); ++length) {
        stars.emplace_back(name.substr(0, length));
        if (addStars(pattern.substr(1), name.substr(length), stars))
            return true;
        stars.pop_back();
    }
    return false;
}

} // namespace

std::optional<std::vector<std::string>> starsOf(std::string_view pattern, std::string_view name)
{
    if (!base::globMatches(pattern, name)) // linear, so that only matches pay for backtracking
        return std::nullopt;
    std::vector<std::string> stars;
    addStars(pattern, name, stars);
    return stars;
}

Result<void> matchTaps(const trace::Run& reference, const trace::Run& target,
                       const AlignmentOptions& options, Alignment& alignment)
{
    TapMatcher matcher(reference, target, options, alignment);
    if (options.mapping != nullptr)
        if (auto mapped = matcher.byMapping(*options.mapping); !mapped)
            return mapped;
    matcher.byName();
    matcher.byHubName();
    matcher.fused();
    matcher.finish();
    return {};
}

} // namespace moire::diff
