// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace moire::capture {

namespace {

/// llama3: waves longer than the original context are slowed down by the factor, short ones kept,
/// those between blended.
float llama3Scaled(float frequency, const RopePlan& rope)
{
    const auto context = static_cast<double>(rope.originalContext);
    const auto longest = static_cast<float>(context / rope.lowFrequencyFactor);
    const auto shortest = static_cast<float>(context / rope.highFrequencyFactor);
    const auto factor = static_cast<float>(rope.factor);
    const auto low = static_cast<float>(rope.lowFrequencyFactor);
    const auto high = static_cast<float>(rope.highFrequencyFactor);
    const float wave = static_cast<float>(2 * std::numbers::pi) / frequency;
    if (wave < shortest)
        return frequency;
    if (wave > longest)
        return frequency / factor;
    const float smooth = (static_cast<float>(context) / wave - low) / (high - low);
    return (1.0F - smooth) * (frequency / factor) + smooth * frequency;
}

/// The base that dynamic scaling takes for a sequence of this length.
float dynamicBase(const RopePlan& rope, std::uint32_t headDim, std::int64_t length)
{
    const auto context = static_cast<std::int64_t>(rope.originalContext);
    if (length <= context)
        return static_cast<float>(rope.theta);
    const auto factor = static_cast<float>(rope.factor);
    const float stretch = factor * static_cast<float>(length) / static_cast<float>(context)
                          - static_cast<float>(rope.factor - 1);
    const double exponent = headDim / (headDim - 2.0);
    return static_cast<float>(rope.theta) * std::pow(stretch, static_cast<float>(exponent));
}

/// The pair of a head that turns `rotations` times within the original context; yarn.
double pairOfRotations(const RopePlan& rope, std::uint32_t headDim, double rotations)
{
    return headDim * std::log(rope.originalContext / (rotations * 2 * std::numbers::pi))
           / (2 * std::log(rope.theta));
}

/// yarn: pairs that turn often are kept, those that turn less than once are slowed down by the
/// factor, those between blended along a ramp.
void scaleByYarn(std::vector<float>& frequencies, const RopePlan& rope, std::uint32_t headDim)
{
    double low = pairOfRotations(rope, headDim, rope.betaFast);
    double high = pairOfRotations(rope, headDim, rope.betaSlow);
    if (rope.truncate) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, headDim - 1.0);
    if (low == high)
        high += 0.001; // as transformers does
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const float exponent = static_cast<float>(2 * i) / static_cast<float>(headDim);
        const float power = std::pow(static_cast<float>(rope.theta), exponent);
        const float ramp =
            (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low);
        const float kept = 1.0F - std::clamp(ramp, 0.0F, 1.0F);
        const float slowed = 1.0F / (static_cast<float>(rope.factor) * power);
        frequencies[i] = slowed * (1.0F - kept) + 1.0F / power * kept;
    }
}

} // namespace

std::vector<float> inverseFrequencies(const RopePlan& rope, std::uint32_t headDim,
                                      std::int64_t length)
{
    const bool dynamic = rope.scaling == RopeScaling::Dynamic;
    const float base =
        dynamic ? dynamicBase(rope, headDim, length) : static_cast<float>(rope.theta);
    std::vector<float> frequencies(headDim / 2);
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const float exponent = static_cast<float>(2 * i) / static_cast<float>(headDim);
        frequencies[i] = 1.0F / std::pow(base, exponent);
        if (rope.scaling == RopeScaling::Linear)
            frequencies[i] /= static_cast<float>(rope.factor);
        if (rope.scaling == RopeScaling::Llama3)
            frequencies[i] = llama3Scaled(frequencies[i], rope);
    }
    if (rope.scaling == RopeScaling::Yarn)
        scaleByYarn(frequencies, rope, headDim);
    return frequencies;
}

} // namespace moire::capture
