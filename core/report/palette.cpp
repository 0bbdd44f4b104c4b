// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/palette.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace moire::report {

namespace {

constexpr MapColours light{{0xee, 0xf1, 0xf5},
                           {0xa4, 0x8f, 0xba},
                           {{{0xb4, 0xd2, 0xef},
                             {0x86, 0xb4, 0xe0},
                             {0x56, 0x8d, 0xc9},
                             {0x3c, 0x62, 0xaa},
                             {0x48, 0x30, 0x7e},
                             {0x28, 0x0a, 0x3e}}}};
constexpr MapColours dark{{0x26, 0x2a, 0x32},
                          {0x8d, 0x78, 0xa8},
                          {{{0x42, 0x52, 0x9a},
                            {0x3f, 0x6f, 0xb4},
                            {0x3a, 0x8c, 0xae},
                            {0x5a, 0xae, 0x90},
                            {0xa9, 0xc5, 0x66},
                            {0xfd, 0xe7, 0x4d}}}};

/// The two inks that stand on cells; the better of them is taken.
constexpr Rgb darkText{0x1d, 0x23, 0x30};
constexpr Rgb lightText{0xff, 0xff, 0xff};

std::uint8_t mixed(std::uint8_t a, std::uint8_t b, double share)
{
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
}

/// The scale's colour at 0 … 1, straight between its stops.
Rgb colourAt(const MapColours& colours, double place)
{
    const double at = place * static_cast<double>(colours.scale.size() - 1);
    const auto stop = std::min(static_cast<std::size_t>(at), colours.scale.size() - 2);
    const double share = at - static_cast<double>(stop);
    const Rgb& a = colours.scale[stop];
    const Rgb& b = colours.scale[stop + 1];
    return {mixed(a.red, b.red, share), mixed(a.green, b.green, share),
            mixed(a.blue, b.blue, share)};
}

/// WCAG 2.1, relative luminance.
double luminance(Rgb colour)
{
    const auto linear = [](std::uint8_t part) {
        const double c = part / 255.0;
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green)
           + 0.0722 * linear(colour.blue);
}

double contrast(Rgb a, Rgb b)
{
    const double la = luminance(a);
    const double lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

std::string rulesOf(Theme theme)
{
    const auto palette = paletteOf(theme);
    std::string rules;
    for (std::size_t i = cellEqual; i < palette.size(); ++i) {
        const bool isLight = contrast(palette[i], darkText) >= contrast(palette[i], lightText);
        const std::string number = std::to_string(i);
        const std::string colour = cssColour(palette[i]);
        rules += ".c" + number + "{background:" + colour
                 + ";color:" + cssColour(isLight ? darkText : lightText) + "}.f" + number
                 + "{fill:" + colour + "}\n";
    }
    return rules;
}

} // namespace

const MapColours& mapColours(Theme theme)
{
    return theme == Theme::Light ? light : dark;
}

std::array<Rgb, paletteSize> paletteOf(Theme theme)
{
    const MapColours& colours = mapColours(theme);
    std::array<Rgb, paletteSize> palette{};
    palette[cellEqual] = colours.equal;
    palette[cellUnmeasured] = colours.unmeasured;
    for (std::size_t level = 0; level < scaleLevels; ++level)
        palette[cellScale + level] =
            colourAt(colours, static_cast<double>(level) / static_cast<double>(scaleLevels - 1));
    return palette;
}

std::string cssColour(Rgb colour)
{
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", colour.red, colour.green, colour.blue);
    return text.data();
}

std::string scaleRules()
{
    return rulesOf(Theme::Light) + "@media screen and (prefers-color-scheme:dark){\n"
           + rulesOf(Theme::Dark) + "}\n";
}

LogScale::LogScale(double smallest, double largest)
{
    const auto decade = [](double value, double (*round)(double)) {
        return static_cast<int>(round(std::log10(value)));
    };
    const bool usable = smallest > 0 && largest >= smallest && std::isfinite(largest);
    m_low = usable ? decade(smallest, std::floor) : -mostDecades;
    m_high = usable ? decade(largest, std::ceil) : 0;
    m_high = std::max(m_high, m_low + 1);
    m_low = std::max(m_low, m_high - mostDecades);
}

std::size_t LogScale::levelOf(double value) const
{
    if (!(value < std::numeric_limits<double>::infinity()))
        return scaleLevels - 1;
    if (!(value > 0))
        return 0;
    const double place = (std::log10(value) - m_low) / (m_high - m_low);
    const double level = std::floor(place * static_cast<double>(scaleLevels));
    return static_cast<std::size_t>(std::clamp(level, 0.0, static_cast<double>(scaleLevels - 1)));
}

std::size_t countLevel(std::size_t count, std::size_t largest)
{
    constexpr std::size_t leastLargest = 2;
    const auto steps = static_cast<double>(std::max(largest, leastLargest) - 1);
    const double place = firstCount + (1 - firstCount) * (static_cast<double>(count) - 1) / steps;
    return static_cast<std::size_t>(
        std::lround(std::clamp(place, 0.0, 1.0) * static_cast<double>(scaleLevels - 1)));
}

} // namespace moire::report
