// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"
#include "core/diff/report.h"

#include <cstdint>
#include <initializer_list>
#include <span>
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

/// Interval::method of shares of samples.
inline constexpr std::string_view wilsonMethod = "Wilson";

/// What a ratio's two sums become.
double finished(RatioForm form, double numerator, double denominator);
/// 100 · numerator / denominator.
double percent(double numerator, double denominator);

/// A measure with the catalogue's words and no value yet. `why` stands until a value is set.
Measure named(std::string_view id, std::string why = {});

/// Why a number is none: its sums, or itself.
inline constexpr std::string_view whyOverflow =
    "not a finite number: its sums are larger than fp64 can hold";
inline constexpr std::string_view whyZeroDivisor =
    "not a finite number: what it is divided by is zero";

/// Sets value and clears whyNull, unless the value is not a number: then value stays absent and
/// whyNull says why. A report never holds NaN or an infinity as a number.
void setValue(Measure& measure, double value, std::string_view why = whyZeroDivisor);
/// Sets a parameter where it is a finite number.
void setParameter(Measure& measure, const char* key, double value);

/// Ratio of sums over all terms, in row order; n is set to the sum of denominators unless given.
/// Where the view is the whole comparison, what each sample adds is kept for the interval.
void setRatio(Measure& measure, const FoldView& view, const Terms& terms, RatioForm form);
/// The same by position (index = position; absent where no row is).
void setPositions(Measure& measure, const FoldView& view, const Terms& terms, RatioForm form);
/// Mean of one number a sample, n the samples; `shares` is parallel to the view's samples, with a
/// denominator of 0 where a sample does not take part.
void setSampleRatio(Measure& measure, std::vector<SampleShare> shares, RatioForm form);

/// Sums over samples that a value is a function of; one column for each number of `Count` that
/// `add` gives a term. Null unless the view is the whole comparison.
class SampleColumns
{
public:
    SampleColumns(const FoldView& view, std::size_t columns);
    /// Rows come in row order.
    void add(std::size_t row, std::initializer_list<double> numbers);
    /// The same with one number, in one column.
    void addTo(std::size_t row, std::size_t column, double number);
    /// Sets the measure's value from the sums, and what its interval is made of.
    void finish(Measure& measure, double (*value)(std::span<const double> sums));

private:
    const FoldView& m_view;
    std::vector<std::vector<double>> m_columns;
    std::vector<double> m_sums;
    std::size_t m_sample = 0;
};
/// Percentiles min, .1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, max (linear interpolation between
/// order statistics, as NumPy's default) and `at`, the site of the largest, under the tap's name.
void setPercentiles(Measure& measure, const FoldView& view, const RowValues& values,
                    std::string_view tapName);
/// Those of values without a place.
void setPercentiles(Measure& measure, std::vector<double> values);

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
