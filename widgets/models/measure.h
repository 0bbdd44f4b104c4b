// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/report.h"
#include "core/report/decades.h"

#include <QString>

#include <array>
#include <limits>
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
/// Bits differ, by how much is not known: only digests were recorded, or compared so far.
inline constexpr float unsized = std::numeric_limits<float>::denorm_min();
/// Bits differ and no element is finite on both sides: other payloads of NaN. There is no size.
inline constexpr float notFinite = 2 * unsized;
/// A size that is zero or too small for a float.
inline constexpr float least = 3 * unsized;
} // namespace cell

/// The cell of a site. A site that differs is always positive: cell::unsized where its size is not
/// known, at least cell::least where it is; NaN or infinity on one side is infinity, and nothing
/// finite on either side without that is cell::notFinite.
float cellOf(const diff::Site& site, HeatMeasure measure);

/// The cell of a logits row under Kl, with the state of its `lm_head.out` site where there is one.
float klCellOf(const diff::LogitsRow& row, const diff::Site* head);

using report::DecadeRange;
using report::RangeFinder;

/// "3.6e-4", "0.125", "12", "∞", "equal bits", "not recorded", …
QString textOfCell(float value, HeatMeasure measure);

/// A number as the views print it: `digits` significant ones, "–" for nothing, "NaN", "∞".
QString textOfNumber(std::optional<double> value, int digits = 3);
/// "98.2 %"; never rounded up to 100 % nor down to 0 %.
QString percentText(double percent);

} // namespace moire::widgets
