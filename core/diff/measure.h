// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// One number of METRICS.md, as a report holds it.
namespace moire::diff {

struct Interval
{
    double low;
    double high;
    std::string method;
};

/// Why a comparison with firstOnly has no value.
inline constexpr std::string_view onlyMatrixAsked = "only the measures of a matrix were asked for";
inline constexpr std::string_view onlyFirstAsked = "only the first divergences were asked for";

/// What one sample adds to a measure that is a ratio of sums over rows: resampling by sample and
/// studies over several targets start from these.
struct SampleShare
{
    double numerator = 0;
    double denominator = 0;
};

/// How the two sums of a ratio become the value.
enum class RatioForm : std::uint8_t
{
    None,     ///< the measure is no ratio of sums
    Quotient, ///< n / d
    Percent,  ///< 100 · n / d
    PerMillion,
    Root ///< √(n / d), 0 for 0 / d
};

/// A value that is a function of more than two sums over samples: what resampling by sample needs.
struct SampleSums
{
    std::vector<std::vector<double>> columns;                ///< each parallel to Report::samples
    double (*value)(std::span<const double> sums) = nullptr; ///< one sum a column
};

/// One number of METRICS.md with everything that belongs to it.
struct Measure
{
    std::string id; ///< "E3[k=5]"
    std::string name;
    std::string family; ///< "A" … "L"
    std::string unit;
    std::optional<double> value; ///< the first quantity that the id names
    std::uint64_t n = 0; ///< what the value was taken over (elements, positions, slots, samples)
    std::optional<Interval> interval;
    std::string whyNoInterval;                ///< set when there is a value and no interval
    RatioForm form = RatioForm::None;         ///< for the writers' eyes only, like bySample
    std::vector<SampleShare> bySample;        ///< parallel to Report::samples; empty without a form
    std::shared_ptr<const SampleSums> sums;   ///< null where bySample says it all
    std::map<std::string, double> parameters; ///< the id's other quantities
    std::map<std::string, double> percentiles;     ///< "0.1", "50", "max", …
    std::vector<std::optional<double>> byPosition; ///< index = position
    std::map<std::int32_t, double> byLayer;
    std::map<std::string, double> byGroup;          ///< by category
    std::vector<std::vector<std::uint64_t>> matrix; ///< A7: 6 × 6, reference class × target class
    std::string at;                                 ///< site of the extreme, SITE form
    std::string whyNull;                            ///< set when value is absent
};

} // namespace moire::diff
