// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/digest.h"

#include <cstring>

namespace moire::numeric {

namespace {

template <class Word>
std::uint64_t digestOf(const std::byte* data, std::size_t width)
{
    std::uint64_t sum = 0;
    std::uint64_t offset = digestStep;
    for (std::size_t i = 0; i < width; ++i, offset += digestStep) {
        Word word;
        std::memcpy(&word, data + i * sizeof(Word), sizeof(Word));
        sum += mix64(word + offset);
    }
    return sum;
}

} // namespace

std::uint64_t rowDigest(const std::byte* data, DType dtype, std::size_t width)
{
    switch (sizeOf(dtype)) {
    case 1:
        return digestOf<std::uint8_t>(data, width);
    case 2:
        return digestOf<std::uint16_t>(data, width);
    case 4:
        return digestOf<std::uint32_t>(data, width);
    default:
        return digestOf<std::uint64_t>(data, width);
    }
}

std::uint64_t wordsDigest(const std::uint64_t* words, std::size_t count)
{
    return digestOf<std::uint64_t>(reinterpret_cast<const std::byte*>(words), count);
}

std::uint64_t bytesDigest(const std::byte* data, std::size_t size)
{
    return digestOf<std::uint8_t>(data, size);
}

} // namespace moire::numeric
