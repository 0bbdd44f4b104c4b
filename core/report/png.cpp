// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/png.h"

#include <algorithm>
#include <cassert>
#include <string_view>

namespace moire::report {

namespace {

constexpr std::array<std::uint32_t, 256> crcTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t n = 0; n < table.size(); ++n) {
        std::uint32_t c = n;
        for (int k = 0; k < 8; ++k)
            c = (c & 1U) != 0 ? 0xEDB88320U ^ (c >> 1U) : c >> 1U;
        table[n] = c;
    }
    return table;
}();

std::uint32_t crc32(std::string_view bytes)
{
    std::uint32_t c = 0xFFFFFFFFU;
    for (const char byte : bytes)
        c = crcTable[(c ^ static_cast<std::uint8_t>(byte)) & 0xFFU] ^ (c >> 8U);
    return ~c;
}

std::uint32_t adler32(std::string_view bytes)
{
    constexpr std::uint32_t prime = 65521;
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char byte : bytes) {
        a = (a + static_cast<std::uint8_t>(byte)) % prime;
        b = (b + a) % prime;
    }
    return b << 16U | a;
}

void appendBig32(std::string& out, std::uint32_t value)
{
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        out += static_cast<char>(value >> shift & 0xFFU);
}

void appendLittle16(std::string& out, std::size_t value)
{
    out += static_cast<char>(value & 0xFFU);
    out += static_cast<char>(value >> 8U & 0xFFU);
}

void appendChunk(std::string& out, std::string_view type, std::string_view content)
{
    appendBig32(out, static_cast<std::uint32_t>(content.size()));
    const std::string checked = std::string(type).append(content);
    out += checked;
    appendBig32(out, crc32(checked));
}

/// RFC 1950 and 1951: a zlib stream of stored blocks.
std::string zlibStored(std::string_view bytes)
{
    constexpr std::size_t blockSize = 65535;
    std::string out("\x78\x01", 2);
    std::size_t at = 0;
    do {
        const std::size_t size = std::min(blockSize, bytes.size() - at);
        out += at + size == bytes.size() ? '\x01' : '\x00';
        appendLittle16(out, size);
        appendLittle16(out, ~size & 0xFFFFU);
        out.append(bytes, at, size);
        at += size;
    } while (at < bytes.size());
    appendBig32(out, adler32(bytes));
    return out;
}

std::string scanLines(const IndexedPicture& picture)
{
    std::string lines;
    for (std::size_t y = 0; y < picture.height; ++y) {
        lines += '\0'; // filter type none
        const std::uint8_t* row = picture.indices.data() + y * picture.width;
        for (std::size_t x = 0; x < picture.width; x += 2) {
            const unsigned second = x + 1 < picture.width ? row[x + 1] : 0U;
            lines += static_cast<char>(static_cast<unsigned>(row[x]) << 4U | second);
        }
    }
    return lines;
}

} // namespace

std::string pngBytes(const IndexedPicture& picture, const std::array<Rgb, paletteSize>& palette)
{
    assert(picture.indices.size() == std::size_t{picture.width} * picture.height);
    std::string out("\x89PNG\r\n\x1a\n");
    std::string header;
    appendBig32(header, picture.width);
    appendBig32(header, picture.height);
    header.append("\x04\x03\x00\x00\x00", 5); // 4 bits, palette, deflate, no filter, no interlace
    appendChunk(out, "IHDR", header);
    std::string colours;
    for (const Rgb& colour : palette)
        for (const std::uint8_t part : {colour.red, colour.green, colour.blue})
            colours += static_cast<char>(part);
    appendChunk(out, "PLTE", colours);
    appendChunk(out, "tRNS", std::string_view("\x00", 1));
    appendChunk(out, "IDAT", zlibStored(scanLines(picture)));
    appendChunk(out, "IEND", {});
    return out;
}

std::string base64(const std::string& bytes)
{
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = group << 8U
                    | (at + i < bytes.size() ? static_cast<std::uint8_t>(bytes[at + i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i) {
            const bool padding = at + i > bytes.size();
            out += padding ? '=' : alphabet[group >> (18 - 6 * i) & 0x3FU];
        }
    }
    return out;
}

} // namespace moire::report
