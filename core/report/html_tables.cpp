// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/html_tables.h"

#include "core/report/families.h"
#include "core/report/first_kinds.h"
#include "core/report/markup.h"
#include "core/report/number.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace moire::report {

namespace {

constexpr std::size_t shownTaps = 20;
constexpr std::size_t listedTaps = 1500;
constexpr std::size_t mostSamples = 200;

using Kind = Column::Kind;

const std::string nothing = element("span", "faint", "–");

std::string orNothing(const std::string& bytes)
{
    return bytes.empty() ? nothing : escaped(bytes);
}

/// A place in a table, or "–".
std::string placeCell(const std::optional<std::uint32_t>& position)
{
    return position ? std::to_string(*position) : nothing;
}

/// "0.84765625" over "0x3f59": the value and, below it, its bits.
std::string sideCell(const FirstKind& kind, const std::optional<double>& value,
                     const std::optional<std::uint64_t>& bits, numeric::DType dtype)
{
    if (!value)
        return nothing;
    if (!bits || holdsIds(kind))
        return escaped(sideText(kind, value, std::nullopt, dtype));
    return escaped(elementText(*bits, dtype)) + "<br/>"
           + element("span", "dim", bitsText(*bits, dtype));
}

MarkupTable tapTable()
{
    return MarkupTable("Measures by tap", {{"tap", Kind::Code},
                                           {"bits equal", Kind::Number},
                                           {"largest ulp", Kind::Number},
                                           {"max |Δ|", Kind::Number},
                                           {"relative L2", Kind::Number},
                                           {"1 − cosine", Kind::Number}});
}

void addTap(MarkupTable& table, const diff::TapReport& tap)
{
    table.add({cellMarkup(tap.name), valueIn(tap.measures, "A1"), valueIn(tap.measures, "A4"),
               valueIn(tap.measures, "B2"), valueIn(tap.measures, "B4"),
               valueIn(tap.measures, "B5")});
}

/// What one MoE layer's routing adds up to.
struct LayerRoutes
{
    std::uint64_t rows = 0, sets = 0, orders = 0, slots = 0, replaced = 0;
    double leastMargin = std::numeric_limits<double>::infinity();
};

LayerRoutes layerRoutes(const diff::Report& report, std::size_t router)
{
    LayerRoutes sum;
    const std::size_t routers = report.routerPairs.size();
    for (std::size_t row = 0; row < report.rows.size(); ++row) {
        const diff::RouteCell& cell = report.routes[row * routers + router];
        if (cell.chosen == 0)
            continue;
        ++sum.rows;
        sum.sets += cell.replaced == 0 ? 1 : 0;
        sum.orders += cell.orderEqual ? 1 : 0;
        sum.slots += cell.chosen;
        sum.replaced += cell.replaced;
        if (cell.referenceMargin < sum.leastMargin)
            sum.leastMargin = static_cast<double>(cell.referenceMargin);
    }
    return sum;
}

std::string share(std::uint64_t part, std::uint64_t whole)
{
    constexpr double percent = 100;
    if (whole == 0)
        return nothing;
    return figureWithUnit(percent * static_cast<double>(part) / static_cast<double>(whole), "%");
}

} // namespace

std::string environmentSection(const diff::Report& report)
{
    if (report.environmentDifferences.empty())
        return section("environment", "Environment", {},
                       element("p", "Every recorded field that bears on arithmetic is equal."));
    MarkupTable table("Fields of the environment that differ",
                      {{"field", Kind::Code}, {"reference", Kind::Code}, {"target", Kind::Code}});
    for (const auto& difference : report.environmentDifferences)
        table.add({escaped(difference.key),
                   element("span", "differs", orNothing(difference.reference)),
                   element("span", "differs", orNothing(difference.target))});
    return section("environment", "Environment: what differs", {}, table.markup());
}

std::string firstSection(const diff::Report& report)
{
    MarkupTable table("First divergence of each kind", {{"kind"},
                                                        {"site", Kind::Code},
                                                        {"reference", Kind::Number},
                                                        {"target", Kind::Number},
                                                        {"ulps", Kind::Number},
                                                        {"origin"}});
    for (const FirstKind& kind : firstKinds) {
        const auto& found = report.first.*kind.member;
        if (!found) {
            table.add({std::string(kind.words), element("span", "note", absentText(kind, report))});
            continue;
        }
        std::string origin(diff::nameOf(found->origin));
        if (!found->note.empty())
            origin += "<br/>" + element("span", "dim", cellMarkup(found->note));
        table.add(
            {std::string(kind.words), cellMarkup(siteText(*found)),
             sideCell(kind, found->referenceValue, found->referenceBits, found->referenceType),
             sideCell(kind, found->targetValue, found->targetBits, found->targetType),
             found->ulps ? grouped(*found->ulps) : nothing, origin});
    }
    return section("first", "First divergences",
                   "Each kind at its smallest sample, position and tap; the worst element there.",
                   table.markup());
}

std::string tapsSection(const diff::Report& report)
{
    if (report.taps.empty())
        return {};
    const std::vector<std::size_t> order = tapsByDifference(report);
    const std::string words = grouped(order.size()) + " of " + countOf(report.taps.size(), "tap")
                              + (order.size() == 1 ? " differs." : " differ.");
    if (order.empty())
        return section("taps", "Taps", words, {});
    MarkupTable worst = tapTable();
    for (std::size_t i = 0; i < std::min(order.size(), shownTaps); ++i)
        addTap(worst, report.taps[order[i]]);
    std::string markup = worst.markup();
    if (report.taps.size() > shownTaps) {
        MarkupTable all = tapTable();
        const std::size_t listed = std::min(report.taps.size(), listedTaps);
        for (std::size_t i = 0; i < listed; ++i)
            addTap(all, report.taps[i]);
        markup += "<details><summary>"
                  + (listed == report.taps.size() ? "All " + countOf(listed, "tap")
                                                  : "The first " + grouped(listed) + " of "
                                                        + countOf(report.taps.size(), "tap"))
                  + " in execution order</summary>\n" + all.markup() + "</details>\n";
    }
    return section("taps", "Taps that differ most", words, markup);
}

std::string samplesSection(const diff::Report& report)
{
    if (report.samples.empty())
        return {};
    MarkupTable table("Samples", {{"sample", Kind::Code},
                                  {"rows", Kind::Number},
                                  {"first bitwise", Kind::Number},
                                  {"first top-1 flip", Kind::Number},
                                  {"split", Kind::Number},
                                  {"not comparable", Kind::Number},
                                  {"KL", Kind::Number},
                                  {"bits equal", Kind::Number}});
    const std::vector<std::string> names = sampleTexts(report);
    const std::size_t shown = std::min(report.samples.size(), mostSamples);
    for (std::size_t i = 0; i < shown; ++i) {
        const diff::SampleReport& sample = report.samples[i];
        table.add({cellMarkup(names[i]), grouped(sample.rowsCompared),
                   placeCell(sample.firstBitwise), placeCell(sample.firstArgmax),
                   placeCell(sample.split),
                   sample.notComparable == 0 ? nothing : grouped(sample.notComparable),
                   valueIn(sample.measures, "C1"), valueIn(sample.measures, "A1")});
    }
    const std::string words = shown == report.samples.size()
                                  ? std::string()
                                  : "The first " + grouped(shown) + " of "
                                        + countOf(report.samples.size(), "sample") + '.';
    return section("samples", "Samples", words, table.markup());
}

std::string measuresSection(const diff::Report& report)
{
    if (report.measures.empty())
        return {};
    MarkupTable table("All measures by family", {{"id", Kind::Code},
                                                 {"measure"},
                                                 {"value", Kind::Number},
                                                 {"interval", Kind::Number},
                                                 {"n", Kind::Number},
                                                 {"where, or why no interval"}});
    MarkupTable absent("Measures without a value",
                       {{"id", Kind::Code}, {"measure"}, {"why there is no value"}});
    std::string family;
    std::size_t without = 0;
    for (const diff::Measure& measure : report.measures) {
        if (!measure.value) {
            ++without;
            absent.add({escaped(measure.id), escaped(measure.name), escaped(measure.whyNull)});
            continue;
        }
        if (measure.family != family) {
            family = measure.family;
            table.add({element("span", "family", escaped(familyName(family)))});
        }
        const bool placed = !measure.at.empty();
        const std::string& remark = placed ? measure.at : measure.whyNoInterval;
        table.add({escaped(measure.id), escaped(measure.name),
                   escaped(figureWithUnit(*measure.value, measure.unit)),
                   escaped(intervalText(measure)), grouped(measure.n),
                   remark.empty() ? std::string()
                                  : element("span", placed ? "place" : "faint", escaped(remark))});
    }
    std::string markup = table.markup();
    if (without > 0)
        markup += "<details><summary>" + countOf(without, "measure")
                  + " that this pair of captures does not give</summary>\n" + absent.markup()
                  + "</details>\n";
    return section("measures", "All measures",
                   "Families A–F are over lm_head.out and every aligned row; the JSON report holds "
                   "curves and percentiles.",
                   markup);
}

std::string routingSection(const diff::Report& report, const trace::Run& reference,
                           const std::string& map)
{
    if (report.routerPairs.empty())
        return {};
    MarkupTable table("Routing by layer", {{"layer", Kind::Number},
                                           {"router", Kind::Code},
                                           {"sets equal", Kind::Number},
                                           {"order equal", Kind::Number},
                                           {"experts replaced", Kind::Number},
                                           {"smallest margin", Kind::Number}});
    for (std::size_t i = 0; i < report.routerPairs.size(); ++i) {
        const trace::RouterLayer& layer = reference.header().routers[report.routerPairs[i].first];
        const LayerRoutes sum = layerRoutes(report, i);
        table.add({std::to_string(layer.layer), escaped(layer.module), share(sum.sets, sum.rows),
                   share(sum.orders, sum.rows), grouped(sum.replaced) + " of " + grouped(sum.slots),
                   std::isfinite(sum.leastMargin) ? figure(sum.leastMargin, 3) : nothing});
    }
    return section("routing", "Routing",
                   "Share of the chosen experts that the target replaced; the margin is the "
                   "reference's gap between its last chosen and first rejected expert.",
                   map + table.markup());
}

} // namespace moire::report
