// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/measure.h"
#include "widgets/plot/look.h"

#include <QRgb>

#include <array>

class QPainter;
class QRect;

namespace moire::widgets {

/// Colours of cells on a log scale: equal bits have their own colour outside the scale, so has what
/// differs by an unknown size; sizes below the scale have the first, above it and infinity the
/// last; NaN does not occur in cells. The first colour is far from that of equal bits in lightness,
/// which every eye tells apart.
class ColourScale
{
public:
    ColourScale() = default;
    ColourScale(const Theme& theme, DecadeRange range);
    /// One step a whole number from 1 to `largest` (experts replaced), 1 well inside the scale: one
    /// replaced expert is no small thing.
    static ColourScale counting(const Theme& theme, int largest);

    /// For cells ≥ cell::equal.
    QRgb at(float value) const;
    QColor colour(float value) const { return QColor::fromRgb(at(value)); }
    DecadeRange range() const { return m_range; }
    /// Ink that reads well on the colour of a cell.
    QColor inkOn(float value) const;

    /// The scale as a horizontal bar.
    void paintBar(QPainter& painter, const QRect& bar) const;

private:
    static constexpr int steps = 256;
    void fill(const Theme& theme);

    DecadeRange m_range;
    double m_low = 0; ///< in decades, or the number itself
    double m_high = 1;
    double m_first = 0; ///< where in the table m_low stands, from 0 to 1
    bool m_linear = false;
    QRgb m_equal = 0, m_unsized = 0;
    QRgb m_lightInk = 0, m_darkInk = 0;
    std::array<QRgb, steps> m_table{};
};

/// The hatch of places that hold no number: rising for not comparable, falling for not recorded.
class Hatch
{
public:
    Hatch() = default;
    explicit Hatch(const Theme& theme);
    /// The pixel at a device position; `code` is one of the two negative codes.
    QRgb at(float code, int x, int y) const;
    /// Fills a rectangle the same way.
    void paint(QPainter& painter, const QRect& rect, float code) const;

private:
    QRgb m_line = 0;
    QRgb m_ground = 0;
};

} // namespace moire::widgets
