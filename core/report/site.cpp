// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/site.h"

#include "core/base/shortened.h"
#include "core/base/text.h"
#include "core/diff/sample_name.h"
#include "core/diff/site_values.h"
#include "core/diff/tap_spelling.h"
#include "core/report/number.h"
#include "core/report/text_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace moire::report {

namespace {

using base::visibleText;

constexpr std::size_t firstElements = 8;
constexpr std::size_t largestElements = 8;
constexpr std::size_t bestTokens = 10;

/// A site found in a run.
struct Place
{
    trace::RowIndex row = 0;
    trace::Row record;
    trace::TapIndex tap{};
    const trace::Tap* info = nullptr;
};

Error notFound(const trace::Run& run, const std::string& sentence, const std::string& hint)
{
    return {Errc::NotFound, sentence, run.source(), hint};
}

Result<Place> find(const trace::Run& run, const diff::SiteName& site)
{
    const std::string ask = "See 'moire-diff info' for what it holds";
    const auto sample = diff::findSampleNamed(run, site.sample);
    if (!sample)
        return notFound(run, "has no sample '" + visibleText(site.sample) + "'", ask);
    const auto tap = findTapByName(run, site.tap);
    if (!tap)
        return notFound(run, "has no tap '" + visibleText(site.tap) + "'", ask);
    Place place;
    place.tap = *tap;
    place.info = &run.header().taps[trace::indexOf(*tap)];
    if (site.element && *site.element >= place.info->width)
        return notFound(run,
                        "the tap '" + visibleText(site.tap) + "' has "
                            + countOf(place.info->width, "element") + ", so none of index "
                            + std::to_string(*site.element),
                        "Elements are counted from 0");
    std::optional<std::uint32_t> last;
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r) {
        const trace::Row row = run.row(r);
        if (row.sample != *sample)
            continue;
        last = std::max(last.value_or(0), row.position);
        if (row.position != site.position)
            continue;
        place.row = r;
        place.record = row;
        return place;
    }
    return notFound(run,
                    "has no row for position " + std::to_string(site.position) + " of sample '"
                        + visibleText(site.sample) + "'",
                    last ? "Its last recorded position is " + std::to_string(*last)
                         : std::string("No row of that sample was recorded"));
}

std::string tokenText(const trace::Run& run, trace::SampleIndex sample, std::uint32_t position)
{
    const auto tokens = run.tokens(sample);
    if (position >= tokens.size())
        return "–";
    const trace::Token& token = tokens[position];
    return std::to_string(token.id) + " “" + visibleText(token.bytes) + "”";
}

std::string placePart(const trace::Run& run, const Place& place)
{
    const trace::Tap& tap = *place.info;
    TextTable table({Align::Left, Align::Left});
    table.add({"token", tokenText(run, place.record.sample, place.record.position) + ", position "
                            + std::to_string(place.record.position)});
    table.add({"row", std::to_string(place.row) + ", "
                          + std::string(trace::nameOf(place.record.phase)) + ", step "
                          + std::to_string(place.record.step) + ", batch slot "
                          + std::to_string(place.record.batchSlot)});
    table.add({"tap", std::string(trace::nameOf(tap.kind))
                          + (tap.layer < 0 ? "" : ", layer " + std::to_string(tap.layer)) + ", "
                          + std::string(numeric::nameOf(tap.dtype)) + " × "
                          + std::to_string(tap.width)});
    std::string inputs;
    for (const trace::TapIndex input : tap.inputs)
        inputs.append(inputs.empty() ? "" : ", ")
            .append(visibleText(run.header().taps[trace::indexOf(input)].name));
    if (!inputs.empty())
        table.add({"reads", inputs + (tap.readsEarlierRows ? "; earlier rows too" : "")});
    table.add({"digest", digestText(run.digests(place.row)[trace::indexOf(place.tap)])});
    const trace::Counts counts = run.counts(place.row)[trace::indexOf(place.tap)];
    table.add({"classes", grouped(counts.finite) + " finite, " + grouped(counts.nan) + " NaN, "
                              + grouped(counts.infinite) + " infinite"});
    if (const auto statistics = run.statistics(place.row); !statistics.empty()) {
        const trace::Statistics& s = statistics[trace::indexOf(place.tap)];
        table.add({"statistics", "min " + valueText(s.min, numeric::DType::FP32) + ", max "
                                     + valueText(s.max, numeric::DType::FP32) + ", mean "
                                     + valueText(s.mean, numeric::DType::FP32) + ", L2 "
                                     + valueText(s.l2, numeric::DType::FP32)});
    }
    return table.text();
}

void addElement(TextTable& table, const std::byte* row, numeric::DType dtype, std::size_t i)
{
    const std::uint64_t bits = numeric::bitsAt(row, dtype, i);
    table.add({std::to_string(i), elementText(bits, dtype), bitsText(bits, dtype),
               fieldsText(bits, dtype),
               std::string(numeric::nameOf(numeric::classOf(bits, dtype)))});
}

TextTable elementTable()
{
    TextTable table({Align::Right, Align::Right, Align::Left, Align::Left, Align::Left});
    table.add({"element", "value", "bits", "sign exponent mantissa", "class"});
    return table;
}

/// Indices of the largest magnitudes; NaN ranks above all, ties to the lower index.
std::vector<std::size_t> largest(const std::byte* row, numeric::DType dtype, std::size_t width)
{
    std::vector<double> magnitudes(width);
    for (std::size_t i = 0; i < width; ++i) {
        const double value = std::abs(numeric::toDouble(numeric::bitsAt(row, dtype, i), dtype));
        magnitudes[i] = std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    }
    std::vector<std::size_t> order(width);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t count = std::min(width, largestElements);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(), [&](std::size_t a, std::size_t b) {
                          if (magnitudes[a] != magnitudes[b])
                              return magnitudes[a] > magnitudes[b];
                          return a < b;
                      });
    order.resize(count);
    return order;
}

Result<std::string> valuesPart(const trace::Run& run, const Place& place,
                               const diff::SiteName& site, SiteExtent extent)
{
    if (run.header().level != trace::Level::Full)
        return "\nValues were not recorded (level " + std::string(trace::nameOf(run.header().level))
               + ").\n";
    const auto view = diff::soundValues(run, place.tap, place.row);
    if (!view)
        return view.error();
    const std::byte* row = view->row(place.row);
    const numeric::DType dtype = place.info->dtype;
    const std::size_t width = place.info->width;
    TextTable values = elementTable();
    if (site.element) {
        addElement(values, row, dtype, *site.element);
        return '\n' + values.text();
    }
    const bool all = extent == SiteExtent::All || width <= firstElements + largestElements;
    for (std::size_t i = 0; i < (all ? width : firstElements); ++i)
        addElement(values, row, dtype, i);
    if (all)
        return "\nValues\n" + values.text();
    TextTable extremes = elementTable();
    for (const std::size_t i : largest(row, dtype, width))
        addElement(extremes, row, dtype, i);
    return "\nFirst " + std::to_string(firstElements) + " of " + countOf(width, "value") + '\n'
           + values.text() + "\nLargest magnitudes\n" + extremes.text();
}

Result<std::string> routingPart(const trace::Run& run, const Place& place)
{
    const auto& routers = run.header().routers;
    const auto at = std::find_if(routers.begin(), routers.end(), [&](const trace::RouterLayer& r) {
        return r.module + ".out" == place.info->name;
    });
    if (at == routers.end())
        return std::string();
    const auto view = run.routing(static_cast<std::size_t>(at - routers.begin()), place.row);
    if (!view)
        return view.error();
    TextTable table({Align::Right, Align::Right, Align::Right, Align::Right});
    table.add({"slot", "expert", "weight", "router logit"});
    for (std::size_t slot = 0; slot < view->ids.size(); ++slot) {
        const std::int32_t expert = view->ids[slot];
        const std::uint64_t weight = numeric::bitsAt(view->weights, at->weightType, slot);
        const bool known = expert >= 0 && static_cast<std::uint32_t>(expert) < at->experts;
        table.add({std::to_string(slot), std::to_string(expert),
                   elementText(weight, at->weightType),
                   known ? elementText(numeric::bitsAt(view->logits, at->logitType,
                                                       static_cast<std::size_t>(expert)),
                                       at->logitType)
                         : "–"});
    }
    return "\nExperts chosen, " + std::to_string(at->chosen) + " of " + std::to_string(at->experts)
           + '\n' + table.text();
}

Result<std::string> headPart(const trace::Run& run, const Place& place)
{
    if (place.info->name != trace::headTapName || run.header().logits.vocabulary == 0)
        return std::string();
    const auto view = run.topK(place.row);
    if (!view)
        return view.error();
    TextTable table({Align::Right, Align::Right, Align::Right, Align::Right, Align::Left});
    table.add({"rank", "id", "logit", "probability", "token"});
    for (std::size_t i = 0; i < std::min(view->ids.size(), bestTokens); ++i)
        if (view->ids[i] >= 0)
            table.add({std::to_string(i + 1), std::to_string(view->ids[i]),
                       valueText(view->values[i], numeric::DType::FP32),
                       figure(std::exp(view->values[i] - view->logSumExp), 3),
                       wordOf(run, view->ids[i])});
    std::string text = "\nBest tokens\n" + table.text();
    text += "  next token " + tokenText(run, place.record.sample, place.record.position + 1);
    if (place.record.score.id >= 0)
        text += ", rank " + std::to_string(place.record.score.rank + 1) + ", log-probability "
                + figure(place.record.score.logProb);
    return text + '\n';
}

} // namespace

std::optional<trace::TapIndex> findTapByName(const trace::Run& run, std::string_view name)
{
    const auto spelled = diff::spelledOut(
        name, [&run](const std::string& whole) { return run.findTap(whole).has_value(); });
    return spelled ? run.findTap(*spelled) : std::nullopt;
}

std::string wordOf(const trace::Run& run, std::int32_t id)
{
    const auto& vocabulary = run.header().vocabulary;
    const auto place = static_cast<std::size_t>(id);
    if (id < 0 || place >= vocabulary.size() || vocabulary[place].empty())
        return {};
    return "“" + base::shortened(visibleText(vocabulary[place]), base::shownOfToken) + "”";
}

Result<std::string> describeSite(const trace::Run& run, const diff::SiteName& site,
                                 SiteExtent extent)
{
    const auto place = find(run, site);
    if (!place)
        return place.error();
    std::string text = visibleText(diff::textOf(site)) + "\n\n" + placePart(run, *place);
    for (auto part : {routingPart, headPart}) {
        const auto lines = part(run, *place);
        if (!lines)
            return lines.error();
        text += *lines;
    }
    const auto values = valuesPart(run, *place, site, extent);
    if (!values)
        return values.error();
    return text + *values;
}

} // namespace moire::report
