// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/plot/colour_scale.h"

#include "core/report/palette.h"

#include <QImage>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace moire::widgets {

namespace {

constexpr int hatchPeriod = 6; // device pixels

/// Relative luminance of WCAG 2.1.
double luminance(QRgb colour)
{
    const auto linear = [](int channel) {
        const double c = channel / 255.0;
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(qRed(colour)) + 0.7152 * linear(qGreen(colour))
           + 0.0722 * linear(qBlue(colour));
}

} // namespace

ColourScale::ColourScale(const Theme& theme, DecadeRange range)
    : m_range(range)
    , m_low(range.low)
    , m_high(range.high)
{
    fill(theme);
}

ColourScale ColourScale::counting(const Theme& theme, int largest)
{
    ColourScale scale;
    scale.m_linear = true;
    scale.m_low = 1;
    scale.m_high = std::max(largest, 2);
    scale.m_first = report::firstCount;
    scale.fill(theme);
    return scale;
}

void ColourScale::fill(const Theme& theme)
{
    m_equal = theme.equal.rgb();
    m_unsized = theme.unsized.rgb();
    m_lightInk = qRgb(255, 255, 255);
    m_darkInk = qRgb(29, 35, 48);
    const auto stops = static_cast<int>(theme.scale.size());
    for (int i = 0; i < steps; ++i) {
        const double place = static_cast<double>(i) * (stops - 1) / (steps - 1);
        const int stop = std::min(static_cast<int>(place), stops - 2);
        m_table[static_cast<std::size_t>(i)] =
            blended(theme.scale[static_cast<std::size_t>(stop) + 1],
                    theme.scale[static_cast<std::size_t>(stop)], place - stop)
                .rgb();
    }
}

QRgb ColourScale::at(float value) const
{
    if (value == cell::equal)
        return m_equal;
    if (value == cell::unsized || value == cell::notFinite)
        return m_unsized;
    const double size = static_cast<double>(value);
    const double share = ((m_linear ? size : std::log10(size)) - m_low) / (m_high - m_low);
    const double place = m_first + (1 - m_first) * std::clamp(share, 0.0, 1.0);
    const auto step = static_cast<std::size_t>(std::lround(place * (steps - 1)));
    return m_table[step];
}

QColor ColourScale::inkOn(float value) const
{
    const double ground = luminance(at(value)) + 0.05;
    const double light = (luminance(m_lightInk) + 0.05) / ground;
    const double dark = ground / (luminance(m_darkInk) + 0.05);
    return QColor::fromRgb(light > dark ? m_lightInk : m_darkInk);
}

void ColourScale::paintBar(QPainter& painter, const QRect& bar) const
{
    const auto first = static_cast<int>(std::lround(m_first * (steps - 1)));
    QImage line(steps - first, 1, QImage::Format_RGB32);
    std::copy(m_table.begin() + first, m_table.end(), reinterpret_cast<QRgb*>(line.scanLine(0)));
    painter.drawImage(bar, line);
}

Hatch::Hatch(const Theme& theme)
    : m_line(theme.hatch.rgb())
    , m_ground(theme.panel.rgb())
{}

QRgb Hatch::at(float code, int x, int y) const
{
    const int phase = code == cell::notComparable ? x + y : x - y;
    const int place = ((phase % hatchPeriod) + hatchPeriod) % hatchPeriod;
    return place < 1 ? m_line : m_ground;
}

void Hatch::paint(QPainter& painter, const QRect& rect, float code) const
{
    const double ratio = painter.device()->devicePixelRatioF();
    QImage tile(hatchPeriod, hatchPeriod, QImage::Format_RGB32);
    for (int y = 0; y < hatchPeriod; ++y)
        for (int x = 0; x < hatchPeriod; ++x)
            tile.setPixel(x, y, at(code, x, y));
    tile.setDevicePixelRatio(ratio);
    painter.fillRect(rect, QBrush(tile));
}

} // namespace moire::widgets
