// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/inspect.h"
#include "core/diff/origin.h"
#include "core/diff/site_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace moire::diff {

namespace {

/// The ulp histogram's last bins, which collect what lies beyond.
constexpr std::int64_t furthestBin = 16;
constexpr std::size_t scatterPoints = 512;

/// How an element ranks among the worst.
struct Badness
{
    bool classDiffers;
    double distance; ///< |Δ|; −1 where it is not a number
    std::uint32_t element;

    bool operator<(const Badness& other) const ///< worse first
    {
        if (classDiffers != other.classDiffers)
            return classDiffers;
        if (!classDiffers && distance != other.distance)
            return distance > other.distance;
        return element < other.element;
    }
};

ElementPair elementOf(const SiteValues& values, std::uint32_t element)
{
    ElementPair pair;
    pair.element = values.referenceElement(element);
    pair.referenceBits = values.referenceBits(element);
    pair.referenceValue = values.referenceValue(element);
    const auto bits = values.targetBits(element);
    pair.chosen = bits.has_value();
    pair.targetBits = bits.value_or(0);
    pair.targetValue =
        values.targetValue(element).value_or(std::numeric_limits<double>::quiet_NaN());
    pair.difference = values.difference(element).value_or(std::numeric_limits<double>::quiet_NaN());
    if (bits && values.sameType())
        pair.ulps = numeric::ulpDistance(pair.referenceBits, *bits, values.referenceType());
    return pair;
}

std::vector<ElementPair> worstElements(const SiteValues& values, std::size_t count)
{
    std::vector<Badness> all;
    for (std::uint32_t i = 0; i < values.width(); ++i) {
        if (!values.differs(i))
            continue;
        const double distance = std::fabs(values.difference(i).value_or(-1));
        all.push_back({values.classDiffers(i), std::isnan(distance) ? -1 : distance, i});
    }
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()));
    std::partial_sort(all.begin(), end, all.end());
    std::vector<ElementPair> worst;
    for (auto at = all.begin(); at != end; ++at)
        worst.push_back(elementOf(values, at->element));
    return worst;
}

/// Signed distance in last places, for elements that are a number on both sides.
std::optional<std::int64_t> signedUlps(const SiteValues& values, std::uint32_t element)
{
    const auto bits = values.targetBits(element);
    if (!bits || std::isnan(values.referenceValue(element))
        || std::isnan(*values.targetValue(element)))
        return std::nullopt;
    const std::int64_t from =
        numeric::monotoneKey(values.referenceBits(element), values.referenceType());
    const std::int64_t to = numeric::monotoneKey(*bits, values.targetType());
    std::int64_t distance = 0;
    if (__builtin_sub_overflow(to, from, &distance))
        distance = to > from ? furthestBin : -furthestBin;
    return std::clamp(distance, -furthestBin, furthestBin);
}

void addHistogram(const SiteValues& values, SiteDetail& detail)
{
    if (!values.sameType())
        return;
    std::array<std::uint64_t, 2 * furthestBin + 1> bins{};
    for (std::uint32_t i = 0; i < values.width(); ++i)
        if (const auto ulps = signedUlps(values, i))
            ++bins[static_cast<std::size_t>(*ulps + furthestBin)];
    for (std::int64_t bin = -furthestBin; bin <= furthestBin; ++bin)
        detail.ulpHistogram.emplace_back(bin, bins[static_cast<std::size_t>(bin + furthestBin)]);
}

void addClasses(const SiteValues& values, SiteDetail& detail)
{
    detail.classMatrix.assign(numeric::valueClassCount,
                              std::vector<std::uint64_t>(numeric::valueClassCount, 0));
    for (std::uint32_t i = 0; i < values.width(); ++i)
        if (const auto bits = values.targetBits(i)) {
            const auto from = numeric::classOf(values.referenceBits(i), values.referenceType());
            const auto to = numeric::classOf(*bits, values.targetType());
            ++detail.classMatrix[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
        }
}

void addScatter(const SiteValues& values, SiteDetail& detail)
{
    const std::size_t points = std::min<std::size_t>(scatterPoints, values.width());
    for (std::size_t i = 0; i < points; ++i) {
        const auto element = static_cast<std::uint32_t>(i * values.width() / points);
        if (const auto target = values.targetValue(element))
            detail.scatter.emplace_back(static_cast<float>(values.referenceValue(element)),
                                        static_cast<float>(*target));
    }
}

OriginContext contextOf(const trace::Run& reference, const trace::Run& target, const Report& report)
{
    return {reference.header(), target.header(), report.rows, report.tapPairs,
            [&report](std::size_t row, std::size_t tap) { return report.site(row, tap).state; }};
}

} // namespace

Result<SiteDetail> inspectSite(const trace::Run& reference, const trace::Run& target,
                               const Report& report, std::size_t rowPair, std::size_t tapPair,
                               std::size_t worstCount)
{
    if (rowPair >= report.rows.size() || tapPair >= report.tapPairs.size())
        return Error{Errc::NotFound, "no such site in the comparison", {}, {}};
    const TapPair& tap = report.tapPairs[tapPair];
    SiteDetail detail;
    detail.site = report.site(rowPair, tapPair);
    detail.referenceType = reference.header().taps[indexOf(tap.reference)].dtype;
    detail.targetType = target.header().taps[indexOf(tap.target)].dtype;
    if (detail.site.state == Site::State::Different)
        detail.origin = originOf(contextOf(reference, target, report), rowPair, tapPair);
    detail.amplification = amplificationOf(
        reference.header(), report.tapPairs,
        [&](std::size_t pair) -> const Site& { return report.site(rowPair, pair); }, tapPair);
    if (reference.header().level != trace::Level::Full
        || target.header().level != trace::Level::Full)
        return detail;
    const auto values =
        SiteValues::read(reference, target, report.routerPairs, report.rows[rowPair], tap);
    if (!values)
        return values.error();
    detail.worst = worstElements(*values, worstCount);
    addHistogram(*values, detail);
    addClasses(*values, detail);
    addScatter(*values, detail);
    return detail;
}

} // namespace moire::diff
