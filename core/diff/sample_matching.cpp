// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/sample_matching.h"

#include "core/base/text.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace moire::diff {

namespace {

using trace::Run;
using trace::SampleIndex;

/// What a sample is recognised by.
struct Face
{
    std::string id;
    std::uint32_t repeat = 0;
    std::string ids;  ///< of the prompt, as bytes; empty without a prompt
    std::string text; ///< what the prompt's tokens stand for; empty when that was not recorded
};

Face faceOf(const Run& run, std::size_t sample)
{
    const trace::Sample& description = run.samples()[sample];
    Face face{description.id, description.repeat, {}, {}};
    for (const trace::Token& token : run.tokens(static_cast<SampleIndex>(sample))) {
        if (token.response)
            break;
        face.ids += std::to_string(token.id) + ' ';
        face.text += token.bytes;
    }
    return face;
}

bool samePrompt(const Face& a, const Face& b)
{
    return a.ids == b.ids || (!a.text.empty() && a.text == b.text);
}

/// One run's samples while they are matched.
struct Faces
{
    Faces(const Run& run, const std::vector<std::string>& patterns)
        : taken(run.samples().size(), false)
    {
        for (std::size_t i = 0; i < run.samples().size(); ++i) {
            const std::string& id = run.samples()[i].id;
            const bool wanted =
                patterns.empty()
                || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
                       return base::globMatches(pattern, id);
                   });
            faces.push_back(wanted ? faceOf(run, i) : Face{});
            taken[i] = !wanted;
        }
    }
    std::vector<Face> faces;
    std::vector<bool> taken; ///< has its counterpart, or is not wanted
};

class SampleMatcher
{
public:
    SampleMatcher(Faces ours, Faces theirs)
        : m_ours(std::move(ours))
        , m_theirs(std::move(theirs))
        , m_counterpart(m_ours.faces.size())
    {}

    /// Gives each of ours that is free the first free one of theirs with the same key of which
    /// `fits` says that it will do.
    template <class KeyOf, class Fits>
    std::size_t pass(KeyOf keyOf, Fits fits)
    {
        using Key = decltype(keyOf(std::declval<const Face&>()));
        std::map<Key, std::vector<std::size_t>> waiting;
        for (std::size_t i = 0; i < m_theirs.faces.size(); ++i)
            if (!m_theirs.taken[i])
                waiting[keyOf(m_theirs.faces[i])].push_back(i);
        std::size_t found = 0;
        for (std::size_t i = 0; i < m_ours.faces.size(); ++i) {
            const auto at = m_ours.taken[i] ? waiting.end() : waiting.find(keyOf(m_ours.faces[i]));
            if (at == waiting.end())
                continue;
            const auto other =
                std::find_if(at->second.begin(), at->second.end(), [&](std::size_t candidate) {
                    return fits(m_ours.faces[i], m_theirs.faces[candidate]);
                });
            if (other == at->second.end())
                continue;
            m_counterpart[i] = *other;
            m_ours.taken[i] = m_theirs.taken[*other] = true;
            at->second.erase(other);
            if (found++ == 0)
                m_example = {i, m_counterpart[i].value()};
        }
        return found;
    }

    void finish(Alignment& alignment) const
    {
        for (std::size_t i = 0; i < m_ours.faces.size(); ++i) {
            if (m_counterpart[i]) {
                Alignment::SamplePair pair;
                pair.reference = static_cast<SampleIndex>(i);
                pair.target = static_cast<SampleIndex>(*m_counterpart[i]);
                alignment.samples.push_back(std::move(pair));
            } else if (!m_ours.taken[i])
                alignment.summary.samplesOnlyReference.push_back(m_ours.faces[i].id);
        }
        for (std::size_t i = 0; i < m_theirs.faces.size(); ++i)
            if (!m_theirs.taken[i])
                alignment.summary.samplesOnlyTarget.push_back(m_theirs.faces[i].id);
    }

    /// A pair that the last pass found.
    std::string example() const
    {
        return base::visibleText(m_ours.faces[m_example.first].id) + " of the reference is "
               + base::visibleText(m_theirs.faces[m_example.second].id) + " of the target";
    }

private:
    Faces m_ours;
    Faces m_theirs;
    std::vector<std::optional<std::size_t>> m_counterpart;
    std::pair<std::size_t, std::size_t> m_example;
};

Result<void> checkPatterns(const Run& reference, const Run& target,
                           const std::vector<std::string>& patterns)
{
    for (const std::string& pattern : patterns) {
        const auto matches = [&](const trace::Sample& sample) {
            return base::globMatches(pattern, sample.id);
        };
        const auto ours = reference.samples();
        const auto theirs = target.samples();
        if (std::none_of(ours.begin(), ours.end(), matches)
            && std::none_of(theirs.begin(), theirs.end(), matches))
            return Error{Errc::Invalid, "the pattern matches no sample of either run", pattern,
                         "List the samples with: moire-diff info FILE"};
    }
    return {};
}

} // namespace

Result<void> matchSamples(const trace::Run& reference, const trace::Run& target,
                          const AlignmentOptions& options, Alignment& alignment)
{
    if (auto checked = checkPatterns(reference, target, options.samplePatterns); !checked)
        return checked;
    SampleMatcher matcher(Faces(reference, options.samplePatterns),
                          Faces(target, options.samplePatterns));
    const auto byId = [](const Face& face) { return std::pair(face.id, face.repeat); };
    const auto always = [](const Face&, const Face&) { return true; };
    matcher.pass(byId, samePrompt);
    const auto known = [](const Face& ours, const Face&) { return !ours.ids.empty(); };
    std::size_t renamed =
        matcher.pass([](const Face& face) { return std::pair(face.ids, face.repeat); }, known);
    const std::string example = renamed > 0 ? matcher.example() : std::string();
    const std::size_t byText =
        matcher.pass([](const Face& face) { return std::pair(face.text, face.repeat); },
                     [](const Face& ours, const Face&) { return !ours.text.empty(); });
    renamed += byText;
    if (renamed > 0)
        alignment.summary.remarks.push_back(
            std::to_string(renamed) + (renamed == 1 ? " sample was" : " samples were")
            + " matched by the prompt, not by the id ("
            + (example.empty() ? matcher.example() : example) + ')');
    matcher.pass(byId, always);
    matcher.finish(alignment);
    return {};
}

} // namespace moire::diff
