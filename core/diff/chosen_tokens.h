// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/measures.h"

#include <cstddef>
#include <vector>

/// What family D is made from: the token that follows each row, as both runs scored it.
namespace moire::diff {

struct ChosenToken
{
    std::size_t row;
    double reference; ///< ln π_r
    double target;    ///< ln π_t

    double delta() const { return target - reference; }
};

/// A sample's tokens in row order; not empty.
struct ChosenSequence
{
    std::vector<ChosenToken> tokens;

    double sum() const
    {
        double total = 0;
        for (const ChosenToken& token : tokens)
            total += token.delta();
        return total;
    }
};

struct ChosenTokens
{
    std::vector<ChosenSequence> sequences;
    std::size_t count = 0; ///< of tokens

    template <class Visit>
    void forEach(Visit visit) const
    {
        for (const ChosenSequence& sequence : sequences)
            for (const ChosenToken& token : sequence.tokens)
                visit(token);
    }
};

inline constexpr const char* whyNoChosenTokens = "no token was scored by both runs";

ChosenTokens chosenTokens(const FoldView& view);

/// D1, D2, D4.
void addTokenChanges(const FoldView& view, const ChosenTokens& tokens, Measures& measures);
/// D6 to D10.
void addImportanceRatios(const FoldView& view, const ChosenTokens& tokens, Measures& measures);
/// D11, D12.
void addSequences(const FoldView& view, const ChosenTokens& tokens, Measures& measures);

} // namespace moire::diff
