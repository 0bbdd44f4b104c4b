// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/divergences.h"

#include <algorithm>

namespace moire::widgets {

namespace {

constexpr std::uint8_t bitOfTopFive = 1U << 2U; // place of 5 in diff::topKSizes

std::vector<SitePlace> differingBits(const diff::Report& report)
{
    std::vector<SitePlace> places;
    const std::size_t taps = report.tapPairs.size();
    for (std::size_t row = 0; row < report.rows.size(); ++row) {
        bool before = false;
        for (std::size_t tap = 0; tap < taps; ++tap) {
            const auto state = report.site(row, tap).state;
            if (state == diff::Site::State::NotRecorded)
                continue;
            const bool differs = state == diff::Site::State::Different;
            if (differs && !before)
                places.push_back({row, tap});
            before = differs;
        }
    }
    return places;
}

std::size_t headTap(const diff::Report& report)
{
    for (std::size_t tap = report.taps.size(); tap-- > 0;)
        if (report.taps[tap].name == trace::headTapName)
            return tap;
    return report.taps.empty() ? 0 : report.taps.size() - 1;
}

template <class Differs>
std::vector<SitePlace> differingLogits(const diff::Report& report, Differs differs)
{
    std::vector<SitePlace> places;
    const std::size_t tap = headTap(report);
    for (std::size_t row = 0; row < report.logits.size(); ++row)
        if (differs(report.logits[row]))
            places.push_back({row, tap});
    return places;
}

/// The tap of a pair's router is found by the layer of its tap report of kind Router, in order.
std::vector<SitePlace> differingRoutes(const diff::Report& report)
{
    std::vector<std::size_t> routerTaps;
    for (std::size_t tap = 0; tap < report.taps.size(); ++tap)
        if (report.taps[tap].kind == trace::TapKind::Router)
            routerTaps.push_back(tap);
    std::vector<SitePlace> places;
    const std::size_t routers = report.routerPairs.size();
    for (std::size_t row = 0; routers > 0 && row < report.rows.size(); ++row)
        for (std::size_t router = 0; router < routers; ++router) {
            const diff::RouteCell& route = report.routes[row * routers + router];
            if (route.chosen > 0 && route.replaced > 0)
                places.push_back(
                    {row, router < routerTaps.size() ? routerTaps[router] : headTap(report)});
        }
    return places;
}

} // namespace

QString nameOf(Criterion criterion)
{
    switch (criterion) {
    case Criterion::Bits:
        return QStringLiteral("bits");
    case Criterion::Tolerance:
        return QStringLiteral("tolerance");
    case Criterion::TopOne:
        return QStringLiteral("top-1 token");
    case Criterion::TopFive:
        return QStringLiteral("top-5 set");
    case Criterion::Experts:
        return QStringLiteral("expert set");
    }
    return {};
}

Divergences::Divergences(const diff::Report& report)
{
    const auto at = [this](Criterion criterion) -> std::vector<SitePlace>& {
        return m_places[static_cast<std::size_t>(criterion)];
    };
    at(Criterion::Bits) = differingBits(report);
    for (const diff::GridPlace& place : report.beyondTolerance)
        at(Criterion::Tolerance).push_back({place.row, place.tap});
    at(Criterion::TopOne) = differingLogits(report, [](const diff::LogitsRow& row) {
        return row.referenceTop >= 0 && row.targetTop >= 0 && row.referenceTop != row.targetTop;
    });
    at(Criterion::TopFive) = differingLogits(report, [](const diff::LogitsRow& row) {
        return (row.known & bitOfTopFive) != 0 && (row.setEqual & bitOfTopFive) == 0;
    });
    at(Criterion::Experts) = differingRoutes(report);
}

std::optional<SitePlace> Divergences::first(Criterion criterion) const
{
    const auto& places = all(criterion);
    return places.empty() ? std::nullopt : std::optional(places.front());
}

std::optional<SitePlace> Divergences::last(Criterion criterion) const
{
    const auto& places = all(criterion);
    return places.empty() ? std::nullopt : std::optional(places.back());
}

std::optional<SitePlace> Divergences::next(Criterion criterion, SitePlace from) const
{
    const auto& places = all(criterion);
    const auto found = std::upper_bound(places.begin(), places.end(), from);
    return found == places.end() ? std::nullopt : std::optional(*found);
}

std::optional<SitePlace> Divergences::previous(Criterion criterion, SitePlace from) const
{
    const auto& places = all(criterion);
    const auto found = std::lower_bound(places.begin(), places.end(), from);
    return found == places.begin() ? std::nullopt : std::optional(*std::prev(found));
}

} // namespace moire::widgets
