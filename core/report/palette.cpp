// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/palette.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace moire::report {

namespace {

struct ThemeColours
{
    Rgb equal, unmeasured, darkText, lightText;
    std::array<Rgb, 6> scale; ///< small to large
};

constexpr ThemeColours light{{0xee, 0xf1, 0xf5},
                             {0xb9, 0xa8, 0xc9},
                             {0x1d, 0x23, 0x30},
                             {0xff, 0xff, 0xff},
                             {{{0xe2, 0xea, 0xf6},
                               {0xaa, 0xc8, 0xe8},
                               {0x60, 0x96, 0xcd},
                               {0x3c, 0x62, 0xaa},
                               {0x48, 0x30, 0x7e},
                               {0x28, 0x0a, 0x3e}}}};
constexpr ThemeColours dark{{0x26, 0x2a, 0x32},
                            {0x7d, 0x6b, 0x91},
                            {0x16, 0x18, 0x1d},
                            {0xe6, 0xe9, 0xf0},
                            {{{0x2c, 0x34, 0x5c},
                              {0x3b, 0x5a, 0xa0},
                              {0x3a, 0x86, 0xaa},
                              {0x60, 0xb0, 0x8c},
                              {0xba, 0xce, 0x5c},
                              {0xfd, 0xe7, 0x4d}}}};

const ThemeColours& coloursOf(Theme theme)
{
    return theme == Theme::Light ? light : dark;
}

std::uint8_t mixed(std::uint8_t a, std::uint8_t b, double share)
{
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
}

/// The scale's colour at 0 … 1, straight between its stops.
Rgb colourAt(const ThemeColours& colours, double place)
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
    const ThemeColours& colours = coloursOf(theme);
    const auto palette = paletteOf(theme);
    std::string rules;
    for (std::size_t i = cellEqual; i < palette.size(); ++i) {
        const bool darkText =
            contrast(palette[i], colours.darkText) >= contrast(palette[i], colours.lightText);
        const std::string number = std::to_string(i);
        const std::string colour = cssColour(palette[i]);
        rules += ".c" + number + "{background:" + colour
                 + ";color:" + cssColour(darkText ? colours.darkText : colours.lightText) + "}.f"
                 + number + "{fill:" + colour + "}\n";
    }
    return rules;
}

} // namespace

std::array<Rgb, paletteSize> paletteOf(Theme theme)
{
    const ThemeColours& colours = coloursOf(theme);
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

} // namespace moire::report
