// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/report.h"

#include <QString>

#include <array>
#include <cstdint>
#include <optional>

namespace moire::widgets {

/// What the token strips and the heat map can be coloured by.
enum class HeatMeasure
{
    RelativeL2,
    MaxUlp,
    MaxAbs,
    UnequalShare,
    Kl ///< of the logits row; the strips only
};
inline constexpr std::array allHeatMeasures{HeatMeasure::RelativeL2, HeatMeasure::MaxUlp,
                                            HeatMeasure::MaxAbs, HeatMeasure::UnequalShare,
                                            HeatMeasure::Kl};
QString nameOf(HeatMeasure measure);

/// A cell is a positive number where the site differs, else one of these. Their order is the order
/// of pooling: the larger wins, so that a difference cannot vanish among its neighbours.
namespace cell {
inline constexpr float notComparable = -2.0F; ///< behind the place where the texts part
inline constexpr float notRecorded = -1.0F;
inline constexpr float equal = 0.0F; ///< equal bits
} // namespace cell

/// The cell of a site. A site that differs is always positive: a size that underflows or that is
/// not known (digests only) becomes the smallest positive float, NaN or infinity on one side
/// infinity.
float cellOf(const diff::Site& site, HeatMeasure measure);

/// The cell of a logits row under Kl, with the state of its `lm_head.out` site where there is one.
float klCellOf(const diff::LogitsRow& row, const diff::Site* head);

/// Whole decades that hold all sizes of a measure.
struct DecadeRange
{
    int low = -7;
    int high = -1;
    friend bool operator==(const DecadeRange&, const DecadeRange&) = default;
};

/// Finds the decades in which sizes lie, but for the smallest: at most one in fifty, which then
/// have the first colour, so that a few of them do not press all others into one. Sizes of 0 and
/// infinity do not count. At most `maxDecades` wide.
class RangeFinder
{
public:
    void add(float value);
    DecadeRange range() const;

private:
    static constexpr int maxDecades = 12;
    static constexpr int lowest = -46;        ///< decade of the smallest float
    std::array<std::uint64_t, 86> m_counts{}; ///< per decade from `lowest` on
    std::uint64_t m_total = 0;
};

/// "3.6e-4", "0.125", "12", "∞", "equal bits", "not recorded", …
QString textOfCell(float value, HeatMeasure measure);

/// A number as the views print it: `digits` significant ones, "–" for nothing, "NaN", "∞".
QString textOfNumber(std::optional<double> value, int digits = 3);
/// "98.2 %"; never rounded up to 100 % nor down to 0 %.
QString percentText(double percent);

} // namespace moire::widgets
