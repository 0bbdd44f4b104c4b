// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/bpe_added_tokens.h"

#include "capture/model/bpe_characters.h"

#include <algorithm>
#include <utility>

namespace moire::capture {

AddedTokenFinder::AddedTokenFinder(std::vector<BpeDefinition::Added> tokens)
    : m_tokens(std::move(tokens))
{
    std::erase_if(m_tokens, [](const auto& token) { return token.content.empty(); });
    std::sort(m_tokens.begin(), m_tokens.end(),
              [](const auto& a, const auto& b) { return a.content < b.content; });
    for (const auto& token : m_tokens) {
        m_starts[static_cast<std::uint8_t>(token.content.front())] = true;
        m_longest = std::max(m_longest, token.content.size());
    }
}

const BpeDefinition::Added* AddedTokenFinder::longestAt(std::string_view text, std::size_t at) const
{
    if (!m_starts[static_cast<std::uint8_t>(text[at])])
        return nullptr;
    const std::string_view rest = text.substr(at, m_longest);
    // Of the contents that sort at or before `rest`, its longest prefix comes last among its
    // prefixes; what sorts between is no prefix and shares less and less with it.
    const auto less = [](std::string_view value, const BpeDefinition::Added& token) {
        return value < token.content;
    };
    auto candidate = std::upper_bound(m_tokens.begin(), m_tokens.end(), rest, less);
    while (candidate != m_tokens.begin()) {
        --candidate;
        if (candidate->content.front() != rest.front())
            return nullptr;
        if (rest.starts_with(candidate->content))
            return &*candidate;
    }
    return nullptr;
}

std::vector<AddedTokenFinder::Part> AddedTokenFinder::split(std::string_view text) const
{
    std::vector<Part> parts;
    std::size_t begin = 0; ///< of the plain text not yet handed out
    std::size_t at = 0;
    while (at < text.size()) {
        const BpeDefinition::Added* token = longestAt(text, at);
        if (!token) {
            ++at;
            continue;
        }
        std::size_t start = at;
        std::size_t stop = at + token->content.size();
        at = stop;
        if (token->singleWord
            && (endsWithWordCharacter(text.substr(0, start))
                || startsWithWordCharacter(text.substr(stop))))
            continue;
        if (token->leftStrip)
            start = std::clamp(start - trailingSpaceLength(text.substr(0, start)),
                               std::min(begin, stop), stop);
        if (token->rightStrip)
            stop += leadingSpaceLength(text.substr(stop));
        if (begin < start)
            parts.push_back({text.substr(begin, start - begin), -1});
        parts.push_back({text.substr(start, stop - start), token->id});
        begin = stop;
    }
    if (begin < text.size())
        parts.push_back({text.substr(begin), -1});
    return parts;
}

} // namespace moire::capture
