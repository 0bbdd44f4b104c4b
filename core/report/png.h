// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace moire::report {

struct Rgb
{
    std::uint8_t red = 0, green = 0, blue = 0;
};

inline constexpr std::size_t paletteSize = 16;

/// A picture of palette indices, row-major; index 0 is transparent.
struct IndexedPicture
{
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<std::uint8_t> indices; ///< width × height, each below paletteSize
};

/// PNG (ISO/IEC 15948) of 4 bits a pixel, stored blocks: bytes depend on the picture alone.
std::string pngBytes(const IndexedPicture& picture, const std::array<Rgb, paletteSize>& palette);

/// RFC 4648, with padding.
std::string base64(const std::string& bytes);

} // namespace moire::report
