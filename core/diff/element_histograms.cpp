// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/element_histograms.h"

#include "core/numeric/element_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

namespace moire::diff {

namespace {

using numeric::DType;

/// A row of both sides.
struct Elements
{
    const std::byte* reference;
    DType referenceType;
    const std::byte* target;
    DType targetType;
    std::size_t width;
};

void countAbsolute(const Elements& row, statistics::LogHistogram& counts)
{
    std::uint64_t zeros = 0;
    for (std::size_t i = 0; i < row.width; ++i) {
        const std::uint64_t a = numeric::bitsAt(row.reference, row.referenceType, i);
        const std::uint64_t b = numeric::bitsAt(row.target, row.targetType, i);
        if (!std::isfinite(numeric::toDouble(a, row.referenceType))
            || !std::isfinite(numeric::toDouble(b, row.targetType)))
            continue;
        const double d = numeric::elementDifference(a, row.referenceType, b, row.targetType);
        if (d == 0)
            ++zeros;
        else
            counts.add(d);
    }
    if (zeros > 0)
        counts.addToBin(0, zeros);
}

void countUlps(const Elements& row, statistics::LogHistogram& counts)
{
    std::uint64_t zeros = 0;
    for (std::size_t i = 0; i < row.width; ++i) {
        const std::uint64_t a = numeric::bitsAt(row.reference, row.referenceType, i);
        const std::uint64_t b = numeric::bitsAt(row.target, row.targetType, i);
        const bool number = numeric::classOf(a, row.referenceType) != numeric::ValueClass::NaN;
        if (a == b && number)
            ++zeros;
        else if (const auto ulps = numeric::ulpDistance(a, b, row.referenceType); ulps && number)
            counts.add(static_cast<double>(*ulps));
    }
    if (zeros > 0)
        counts.addToBin(0, zeros);
}

/// The same for 16-bit and 32-bit floats, without a look at the layout for every element.
template <class Word>
void countQuickly(const Elements& row, ElementHistograms& counts)
{
    const numeric::FloatLayout layout = numeric::layoutOf(row.referenceType);
    const auto infinity = static_cast<std::int64_t>(
        ((std::uint64_t{1} << static_cast<unsigned>(layout.exponentBits)) - 1)
        << static_cast<unsigned>(layout.mantissaBits));
    constexpr auto mask = static_cast<Word>(std::numeric_limits<Word>::max() >> 1U);
    const auto valueOf = [&](Word bits) { return numeric::toDouble(bits, row.referenceType); };
    std::uint64_t equal = 0;
    std::uint64_t infinite = 0;
    for (std::size_t i = 0; i < row.width; ++i) {
        Word a;
        Word b;
        std::memcpy(&a, row.reference + i * sizeof a, sizeof a);
        std::memcpy(&b, row.target + i * sizeof b, sizeof b);
        const auto ours = static_cast<std::int64_t>(a & mask);
        const auto theirs = static_cast<std::int64_t>(b & mask);
        if (ours > infinity || theirs > infinity)
            continue;
        const bool finite = ours < infinity && theirs < infinity;
        if (a == b) {
            ++equal;
            infinite += finite ? 0 : 1;
            continue;
        }
        const std::int64_t distance = (a > mask ? -ours : ours) - (b > mask ? -theirs : theirs);
        counts.ulps.add(static_cast<double>(distance));
        if (finite)
            counts.absolute.add(valueOf(b) - valueOf(a));
    }
    if (equal > 0)
        counts.ulps.addToBin(0, equal);
    if (equal > infinite)
        counts.absolute.addToBin(0, equal - infinite);
}

} // namespace

void ElementHistograms::merge(const ElementHistograms& other)
{
    absolute.merge(other.absolute);
    ulps.merge(other.ulps);
}

void ElementHistograms::remove(const ElementHistograms& other)
{
    absolute.remove(other.absolute);
    ulps.remove(other.ulps);
}

Result<void> countElements(const trace::Run& reference, const trace::Run& target,
                           const RowPair& rows, const TapPair& taps, ElementHistograms& counts)
{
    const auto ours = reference.values(taps.reference, rows.reference, rows.reference + 1);
    if (!ours)
        return ours.error();
    const auto theirs = target.values(taps.target, rows.target, rows.target + 1);
    if (!theirs)
        return theirs.error();
    const DType a = reference.header().taps[indexOf(taps.reference)].dtype;
    const DType b = target.header().taps[indexOf(taps.target)].dtype;
    const Elements row{ours->row(rows.reference) + taps.referenceOffset * numeric::sizeOf(a), a,
                       theirs->row(rows.target) + taps.targetOffset * numeric::sizeOf(b), b,
                       taps.width};
    if (a == b && (a == DType::BF16 || a == DType::FP16)) {
        countQuickly<std::uint16_t>(row, counts);
    } else if (a == b && a == DType::FP32) {
        countQuickly<std::uint32_t>(row, counts);
    } else {
        countAbsolute(row, counts.absolute);
        if (a == b)
            countUlps(row, counts.ulps);
    }
    return {};
}

void addElementQuantiles(const ElementHistograms& counts, std::vector<Measure>& measures)
{
    constexpr std::array<std::pair<const char*, double>, 5> shown{
        {{"elements_50_percent", 0.5},
         {"elements_90_percent", 0.9},
         {"elements_95_percent", 0.95},
         {"elements_99_percent", 0.99},
         {"elements_99.9_percent", 0.999}}};
    for (Measure& measure : measures) {
        if (!measure.value || (measure.id != "B2" && measure.id != "A4"))
            continue;
        const statistics::LogHistogram& histogram =
            measure.id == "B2" ? counts.absolute : counts.ulps;
        for (const auto& [name, share] : shown)
            if (const auto value = histogram.quantile(share); value && std::isfinite(*value))
                measure.parameters[name] = *value;
    }
}

} // namespace moire::diff
