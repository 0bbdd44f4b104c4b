// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"
#include "core/diff/report.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::diff {

/// What one row adds to a ratio of sums.
struct Term
{
    std::size_t row = 0; ///< index of the row pair
    double numerator = 0;
    double denominator = 1;
};
using Terms = std::vector<Term>;

/// One number of one row; its site is where it was seen.
struct RowValue
{
    std::size_t row = 0;
    double value = 0;
    std::int64_t element = -1; ///< −1: the row as a whole
};
using RowValues = std::vector<RowValue>;

/// How a ratio's sums become the value: (numerator, denominator) → value.
using Finish = std::function<double(double, double)>;
double quotient(double numerator, double denominator);
double percent(double numerator, double denominator);
double rootOfQuotient(double numerator, double denominator); ///< √(n/d), relative L2; 0 for 0/0

/// A measure with the catalogue's words and no value yet. `why` stands until a value is set.
Measure named(std::string_view id, std::string why = {});

/// Sets value and clears whyNull, unless the value is not a number: then value stays absent and
/// whyNull says so. A report never holds NaN or an infinity as a number.
void setValue(Measure& measure, double value);

/// Ratio of sums over all terms, in row order; n is set to the sum of denominators unless given.
void setRatio(Measure& measure, const Terms& terms, const Finish& finish);
/// The same by position (index = position; absent where no row is).
void setPositions(Measure& measure, const FoldView& view, const Terms& terms, const Finish& finish);
/// Percentiles min, .1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, max (linear interpolation between
/// order statistics, as NumPy's default) and `at`, the site of the largest, under the tap's name.
void setPercentiles(Measure& measure, const FoldView& view, const RowValues& values,
                    std::string_view tapName);
/// Linear interpolation at fraction q of sorted values (not empty).
double quantile(const std::vector<double>& sorted, double q);

/// Mean, n, percentiles and, when asked, the mean by position: measures that are one number a row.
enum class Curve
{
    None,
    ByPosition
};
void setMean(Measure& measure, const FoldView& view, const RowValues& values,
             std::string_view tapName, Curve curve);
/// The largest as the value; otherwise as setMean. By position: the largest there.
void setLargest(Measure& measure, const FoldView& view, const RowValues& values,
                std::string_view tapName, Curve curve);

} // namespace moire::diff
