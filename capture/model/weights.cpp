// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/weights.h"

#include "core/numeric/digest.h"

namespace moire::capture {

namespace {

/// The tensor digest of core/store/FORMAT.md, section 1.
std::uint64_t tensorDigest(const std::string& name, const Weight& weight)
{
    std::vector<std::uint64_t> words;
    words.push_back(
        numeric::bytesDigest(reinterpret_cast<const std::byte*>(name.data()), name.size()));
    words.push_back(static_cast<std::uint64_t>(weight.dtype));
    words.push_back(weight.shape.size());
    for (const std::int64_t extent : weight.shape)
        words.push_back(static_cast<std::uint64_t>(extent));
    words.push_back(numeric::rowDigest(weight.bytes.data(), weight.dtype,
                                       weight.bytes.size() / numeric::sizeOf(weight.dtype)));
    return numeric::wordsDigest(words.data(), words.size());
}

} // namespace

Result<std::uint64_t> weightDigest(const Weights& weights)
{
    std::uint64_t sum = 0;
    for (const Weights::Entry& entry : weights.entries()) {
        const auto weight = weights.load(entry.name);
        if (!weight)
            return weight.error();
        sum += tensorDigest(entry.name, *weight);
        weights.release(entry.name);
    }
    return sum;
}

} // namespace moire::capture
