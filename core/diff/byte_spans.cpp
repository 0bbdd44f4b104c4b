// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/byte_spans.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

namespace moire::diff {

namespace {

using Tokens = std::span<const trace::Token>;

bool meet(const trace::Token& ours, const trace::Token& theirs, Vocabulary vocabulary)
{
    const bool idsTell =
        vocabulary == Vocabulary::Same || (ours.bytes.empty() && theirs.bytes.empty());
    return ours.bytes == theirs.bytes && (!idsTell || ours.id == theirs.id);
}

/// The shortest stretches from (i, j) on that hold the same bytes; lengths 0 when there are none.
TokenBlock commonStretch(Tokens reference, Tokens target, std::size_t i, std::size_t j)
{
    std::string ours = reference[i].bytes;
    std::string theirs = target[j].bytes;
    std::size_t p = i + 1;
    std::size_t q = j + 1;
    TokenBlock block{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), 0, 0, false};
    if (ours.empty() || theirs.empty())
        return block;
    while (true) {
        // What has been compared goes, so that a long stretch costs no more than its bytes.
        const std::size_t common = std::min(ours.size(), theirs.size());
        if (std::string_view(ours).substr(0, common) != std::string_view(theirs).substr(0, common))
            return block;
        ours.erase(0, common);
        theirs.erase(0, common);
        if (ours.empty() && theirs.empty() && common > 0) {
            block.referenceLength = static_cast<std::uint32_t>(p - i);
            block.targetLength = static_cast<std::uint32_t>(q - j);
            return block;
        }
        if (ours.empty() && p < reference.size())
            ours = reference[p++].bytes;
        else if (theirs.empty() && q < target.size())
            theirs = target[q++].bytes;
        else
            return block;
    }
}

void addEqual(std::size_t i, std::size_t j, std::vector<TokenBlock>& blocks)
{
    if (!blocks.empty()) {
        TokenBlock& last = blocks.back();
        if (last.sameTokens && last.referenceBegin + last.referenceLength == i
            && last.targetBegin + last.targetLength == j) {
            ++last.referenceLength;
            ++last.targetLength;
            return;
        }
    }
    blocks.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), 1, 1, true});
}

/// Tokens at (i, j) of which at least one stands for no text at all, and which therefore have no
/// counterpart: (1, 0), (0, 1), or (1, 1) where two vocabularies mark the same place; else (0, 0).
std::pair<std::uint32_t, std::uint32_t>
withoutText(const trace::Token& ours, const trace::Token& theirs, Vocabulary vocabulary)
{
    if (ours.bytes.empty() && theirs.bytes.empty())
        return vocabulary == Vocabulary::Other ? std::pair(1U, 1U) : std::pair(0U, 0U);
    return {ours.bytes.empty() ? 1U : 0U, theirs.bytes.empty() ? 1U : 0U};
}

/// "<s>", "[CLS]", or nothing at all: a mark that the text itself does not hold.
bool isMark(const trace::Token& token)
{
    const std::string& bytes = token.bytes;
    return bytes.empty() || (bytes.front() == '<' && bytes.back() == '>')
           || (bytes.front() == '[' && bytes.back() == ']');
}

/// How many tokens the two sides begin with that have no counterpart: (0, 0), (1, 0), (0, 1) or
/// (1, 1), the first of these behind which the texts agree.
std::pair<std::size_t, std::size_t> differentBeginning(Tokens reference, Tokens target,
                                                       Vocabulary vocabulary)
{
    constexpr std::pair<std::size_t, std::size_t> choices[] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    for (const auto& [i, j] : choices)
        if (i < reference.size() && j < target.size() && (i == 0 || isMark(reference[0]))
            && (j == 0 || isMark(target[0]))
            && (meet(reference[i], target[j], vocabulary)
                || commonStretch(reference, target, i, j).referenceLength > 0))
            return {i, j};
    return {0, 0};
}

} // namespace

bool haveBytes(std::span<const trace::Token> tokens)
{
    return std::any_of(tokens.begin(), tokens.end(),
                       [](const trace::Token& token) { return !token.bytes.empty(); });
}

TokenAlignment alignBytes(std::span<const trace::Token> reference,
                          std::span<const trace::Token> target, Vocabulary vocabulary)
{
    TokenAlignment alignment;
    auto [i, j] = differentBeginning(reference, target, vocabulary);
    if (i + j > 0)
        alignment.blocks.push_back(
            {0, 0, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), false});
    while (i < reference.size() && j < target.size()) {
        if (meet(reference[i], target[j], vocabulary)) {
            addEqual(i++, j++, alignment.blocks);
            continue;
        }
        TokenBlock block = commonStretch(reference, target, i, j);
        if (block.referenceLength == 0)
            std::tie(block.referenceLength, block.targetLength) =
                withoutText(reference[i], target[j], vocabulary);
        if (block.referenceLength + block.targetLength == 0) {
            alignment.split = static_cast<std::uint32_t>(i);
            alignment.targetSplit = static_cast<std::uint32_t>(j);
            return alignment;
        }
        alignment.blocks.push_back(block);
        i += block.referenceLength;
        j += block.targetLength;
    }
    return alignment;
}

} // namespace moire::diff
