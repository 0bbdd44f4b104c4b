// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/bpe_alphabet.h"

#include <array>
#include <cstdint>

namespace moire::capture {

namespace {

constexpr std::size_t byteCount = 256;
constexpr std::uint32_t firstStandIn = 0x100;
constexpr std::size_t standInCount = 68; ///< bytes that Latin-1 does not print

struct Alphabet
{
    std::array<std::uint16_t, byteCount> characterOf{};
    std::array<std::int16_t, firstStandIn + standInCount> byteOf{}; ///< −1: not in the alphabet
};

constexpr bool standsForItself(std::uint32_t byte)
{
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr Alphabet makeAlphabet()
{
    Alphabet alphabet;
    for (auto& byte : alphabet.byteOf)
        byte = -1;
    std::uint32_t next = firstStandIn;
    for (std::uint32_t byte = 0; byte < byteCount; ++byte) {
        const std::uint32_t character = standsForItself(byte) ? byte : next++;
        alphabet.characterOf[byte] = static_cast<std::uint16_t>(character);
        alphabet.byteOf[character] = static_cast<std::int16_t>(byte);
    }
    return alphabet;
}

constexpr Alphabet alphabet = makeAlphabet();

} // namespace

std::optional<std::string> bytesFromSpelling(std::string_view spelling)
{
    std::string bytes;
    bytes.reserve(spelling.size());
    for (std::size_t i = 0; i < spelling.size(); ++i) {
        std::uint32_t character = static_cast<std::uint8_t>(spelling[i]);
        // The alphabet ends at U+0143, so a character takes at most two bytes.
        if (character >= 0x80) {
            if (character < 0xC2 || character > 0xC5 || i + 1 == spelling.size())
                return std::nullopt;
            const std::uint32_t second = static_cast<std::uint8_t>(spelling[++i]);
            if ((second & 0xC0U) != 0x80U)
                return std::nullopt;
            character = (character & 0x1FU) << 6U | (second & 0x3FU);
        }
        if (character >= alphabet.byteOf.size() || alphabet.byteOf[character] < 0)
            return std::nullopt;
        bytes.push_back(static_cast<char>(alphabet.byteOf[character]));
    }
    return bytes;
}

std::string spellingOfBytes(std::string_view bytes)
{
    std::string spelling;
    spelling.reserve(2 * bytes.size());
    for (const char byte : bytes) {
        const std::uint32_t character = alphabet.characterOf[static_cast<std::uint8_t>(byte)];
        if (character < 0x80) {
            spelling.push_back(static_cast<char>(character));
        } else {
            spelling.push_back(static_cast<char>(0xC0U | character >> 6U));
            spelling.push_back(static_cast<char>(0x80U | (character & 0x3FU)));
        }
    }
    return spelling;
}

} // namespace moire::capture
