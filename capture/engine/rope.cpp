// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/rope.h"

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

} // namespace

Result<std::vector<float>> inverseFrequencies(const RopePlan& rope, std::uint32_t headDim)
{
    std::vector<float> frequencies(headDim / 2);
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const float exponent = static_cast<float>(2 * i) / static_cast<float>(headDim);
        const float plain = 1.0F / std::pow(static_cast<float>(rope.theta), exponent);
        switch (rope.scaling) {
        case RopeScaling::None:
            frequencies[i] = plain;
            break;
        case RopeScaling::Linear:
            frequencies[i] = plain / static_cast<float>(rope.factor);
            break;
        case RopeScaling::Llama3:
            frequencies[i] = llama3Scaled(plain, rope);
            break;
        case RopeScaling::Dynamic:
        case RopeScaling::Yarn:
            return Error{Errc::Unsupported,
                         "the model scales its rotary positions in a way that this version does "
                         "not compute",
                         {},
                         "Rope scalings that work are linear and llama3"};
        }
    }
    return frequencies;
}

} // namespace moire::capture
