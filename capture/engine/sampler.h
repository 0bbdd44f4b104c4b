// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <string>

namespace moire::capture {

/// How a generated token is chosen. The filters work in the order of transformers' logits warpers:
/// temperature, top-k, top-p, min-p.
struct Sampling
{
    double temperature = 0; ///< 0: greedy, and nothing below counts
    std::uint32_t topK = 0; ///< tokens that stay, with those that equal the last; 0: all
    double topP = 1;        ///< the fewest likeliest tokens that together have as much
    double minP = 0;        ///< share of the likeliest token's probability that a token needs

    bool greedy() const { return temperature == 0; }
    /// "greedy", or "temperature 0.8, top-k 50": the capture's run.sampling.
    std::string text() const;
    /// Errors: Invalid names the option.
    Result<void> check() const;
};

/// Where the random number of one choice comes from: nothing else counts, so that a token does not
/// depend on the batch its sample is in.
struct Draw
{
    std::uint64_t seed = 0;
    std::uint32_t sample = 0;   ///< of the run
    std::uint32_t position = 0; ///< of the row that chooses
};

/// Uniform in [0, 1), a multiple of 2⁻⁵³: the first two words of Philox4x32-10 with the seed as key
/// and {position, 0, sample, 0} as counter.
double uniformOf(const Draw& draw);

/// An id by its probability among those that the filters leave, in fp64: weights exp((logit −
/// largest) / T), summed in descending order (equal ones by ascending id); the first id at which
/// the sum exceeds the uniform number times the whole. NaN counts as −∞; of +∞ logits each is as
/// likely. Id 0 when no logit is a number. `sampling` is not greedy.
std::int32_t sampleToken(std::span<const float> logits, const Sampling& sampling, const Draw& draw);

} // namespace moire::capture
