// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/site_pair.h"

#include "core/base/text.h"
#include "core/diff/comparison.h"
#include "core/diff/sample_name.h"
#include "core/diff/site_values.h"
#include "core/report/number.h"
#include "core/report/site.h"
#include "core/report/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace moire::report {

namespace {

using base::visibleText;

constexpr std::size_t bestTokens = 10;
constexpr int barLength = 40;

/// The site among what was aligned.
struct Pair
{
    std::size_t row = 0;
    std::size_t tap = 0;
};

/// Rows of the site's sample up to its position, as places of alignment.rows, half-open.
struct Rows
{
    std::size_t begin = 0, end = 0;
};

Error notFound(const trace::Run& run, const std::string& sentence)
{
    return {Errc::NotFound, sentence, run.source(), "See 'moire-diff REF TARGET' for what aligns"};
}

Result<Rows> findRows(const trace::Run& reference, const diff::Alignment& alignment,
                      const diff::SiteName& site)
{
    const auto sample = diff::findSampleNamed(reference, site.sample);
    if (!sample)
        return notFound(reference, "has no sample '" + visibleText(site.sample) + "'");
    const auto ofSample = [&](const diff::RowPair& pair) { return pair.sample == *sample; };
    const auto& rows = alignment.rows;
    const auto begin = std::find_if(rows.begin(), rows.end(), ofSample);
    const auto at = std::find_if(begin, rows.end(), [&](const diff::RowPair& pair) {
        return ofSample(pair) && pair.position == site.position;
    });
    if (at == rows.end())
        return notFound(reference, "position " + std::to_string(site.position) + " of "
                                       + diff::sampleWords(site.sample)
                                       + " has no row to be held against: the texts part before "
                                         "it, or it was not recorded in both");
    return Rows{static_cast<std::size_t>(begin - rows.begin()),
                static_cast<std::size_t>(at - rows.begin()) + 1};
}

Result<std::size_t> findTapPair(const trace::Run& reference, const diff::Alignment& alignment,
                                const diff::SiteName& site)
{
    const auto tap = findTapByName(reference, site.tap);
    if (!tap)
        return notFound(reference, "has no tap '" + visibleText(site.tap) + "'");
    const auto at = std::find_if(alignment.taps.begin(), alignment.taps.end(),
                                 [&](const diff::TapPair& pair) { return pair.reference == *tap; });
    if (at == alignment.taps.end())
        return notFound(reference,
                        "the tap '" + visibleText(site.tap) + "' has no counterpart in the target");
    return static_cast<std::size_t>(at - alignment.taps.begin());
}

std::string originWords(const diff::SiteDetail& detail)
{
    std::string text(diff::nameOf(detail.origin));
    if (detail.amplification)
        text += ", " + figure(*detail.amplification, 3) + " × the largest difference of its inputs";
    return text;
}

std::string summaryPart(const diff::Report& report, Pair pair, const diff::SiteDetail& detail)
{
    const diff::Site& site = detail.site;
    TextTable table({Align::Left, Align::Left});
    table.add({"reference", visibleText(report.reference.file) + ", "
                                + std::string(numeric::nameOf(detail.referenceType))});
    table.add({"target", visibleText(report.target.file) + ", "
                             + std::string(numeric::nameOf(detail.targetType))});
    table.add({"rows", std::to_string(report.rows[pair.row].reference) + " and "
                           + std::to_string(report.rows[pair.row].target)});
    table.add({"differ", grouped(site.unequal) + " of " + countOf(site.elements, "element")});
    if (site.state == diff::Site::State::Different) {
        table.add({"origin", originWords(detail)});
        if (site.finite == 0) {
            table.add({"max |Δ|", "none: no element is finite on both sides"});
        } else {
            table.add({"relative L2", figure(site.relativeL2())});
            table.add({"max |Δ|",
                       figure(site.maxAbs) + " at element " + std::to_string(site.worstElement)});
            table.add({"largest", countOf(site.maxUlp, "ulp")});
        }
    }
    return table.text();
}

std::string worstPart(const diff::SiteDetail& detail)
{
    if (detail.worst.empty())
        return {};
    TextTable table({Align::Right, Align::Right, Align::Left, Align::Right, Align::Left,
                     Align::Right, Align::Right});
    table.add({"element", "reference", "bits", "target", "bits", "Δ", "ulps"});
    for (const diff::ElementPair& element : detail.worst)
        table.add(
            {std::to_string(element.element),
             elementText(element.referenceBits, detail.referenceType),
             bitsText(element.referenceBits, detail.referenceType),
             element.chosen ? elementText(element.targetBits, detail.targetType) : "not chosen",
             element.chosen ? bitsText(element.targetBits, detail.targetType) : "",
             element.chosen ? figure(element.difference, 3) : "–",
             element.ulps ? grouped(*element.ulps) : "–"});
    return "\nElements, worst first\n" + table.text();
}

/// One element, equal or not.
Result<std::string> elementPart(const trace::Run& reference, const trace::Run& target,
                                const diff::Report& report, Pair pair, std::uint32_t element)
{
    const auto values = diff::SiteValues::read(reference, target, report.routerPairs,
                                               report.rows[pair.row], report.tapPairs[pair.tap]);
    if (!values)
        return values.error();
    TextTable table({Align::Left, Align::Right, Align::Left, Align::Left});
    table.add({"", "value", "bits", "sign exponent mantissa"});
    const auto add = [&](const char* side, std::uint64_t bits, numeric::DType dtype) {
        table.add({side, elementText(bits, dtype), bitsText(bits, dtype), fieldsText(bits, dtype)});
    };
    add("reference", values->referenceBits(element), values->referenceType());
    const auto bits = values->targetBits(element);
    if (bits)
        add("target", *bits, values->targetType());
    else
        table.add({"target", "–", "", "its expert was not chosen"});
    return "\nElement " + std::to_string(element) + '\n' + table.text();
}

std::string histogramPart(const diff::SiteDetail& detail)
{
    std::uint64_t most = 0;
    for (const auto& [ulps, count] : detail.ulpHistogram)
        most = std::max(most, count);
    if (most == 0)
        return {};
    const std::int64_t first = detail.ulpHistogram.front().first;
    const std::int64_t last = detail.ulpHistogram.back().first;
    TextTable table({Align::Right, Align::Right, Align::Left});
    for (const auto& [ulps, count] : detail.ulpHistogram) {
        if (count == 0)
            continue;
        std::string label = std::to_string(ulps);
        if (ulps == first)
            label = "≤ " + label;
        else if (ulps == last)
            label = "≥ " + label;
        const auto length = static_cast<std::size_t>(
            std::ceil(barLength * static_cast<double>(count) / static_cast<double>(most)));
        std::string bar;
        for (std::size_t i = 0; i < length; ++i)
            bar += "▪";
        table.add({label, grouped(count), bar});
    }
    return "\nDistance in ulps, target minus reference\n" + table.text();
}

std::string classPart(const diff::SiteDetail& detail)
{
    constexpr std::array<const char*, 6> names{"normal", "subnormal", "zero",
                                               "+Inf",   "−Inf",      "NaN"};
    TextTable table({Align::Left, Align::Right, Align::Left});
    bool any = false;
    const auto& matrix = detail.classMatrix;
    for (std::size_t r = 0; r < matrix.size() && r < names.size(); ++r)
        for (std::size_t t = 0; t < matrix[r].size() && t < names.size(); ++t)
            if (r != t && matrix[r][t] > 0) {
                table.add({std::string(names[r]) + " → " + names[t], grouped(matrix[r][t])});
                any = true;
            }
    return any ? "\nElements of another value class\n" + table.text() : std::string();
}

Result<std::string> headPart(const trace::Run& reference, const trace::Run& target,
                             const diff::Report& report, std::size_t row)
{
    const auto detail = diff::inspectLogits(reference, target, report, row, bestTokens);
    if (!detail)
        return detail.error();
    TextTable table(
        {Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left});
    table.add({"id", "rank", "logit", "rank", "logit", "token"});
    const auto rank = [](std::int32_t place) {
        return place < 0 ? std::string("–") : std::to_string(place + 1);
    };
    const auto logit = [](double value) {
        return std::isnan(value) ? std::string("–") : valueText(value, numeric::DType::FP32);
    };
    for (const diff::RankedPair& pair : detail->ladder)
        table.add({std::to_string(pair.id), rank(pair.referenceRank), logit(pair.referenceLogit),
                   rank(pair.targetRank), logit(pair.targetLogit), wordOf(reference, pair.id)});
    std::string text = "\nBest tokens: reference, then target\n" + table.text();
    if (detail->row.compared)
        text += "  forward KL " + figure(detail->row.forwardKl) + " nats, total variation "
                + figure(detail->row.totalVariation) + '\n';
    return text;
}

Result<std::string> routerPart(const trace::Run& reference, const trace::Run& target,
                               const diff::Report& report, Pair pair)
{
    const std::string& name = report.taps[pair.tap].name;
    for (std::size_t i = 0; i < report.routerPairs.size(); ++i) {
        if (reference.header().routers[report.routerPairs[i].first].module + ".out" != name)
            continue;
        const auto detail = diff::inspectRouting(reference, target, report, pair.row, i);
        if (!detail)
            return detail.error();
        TextTable table({Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                         Align::Right, Align::Right});
        table.add({"expert", "slot", "logit", "weight", "slot", "logit", "weight"});
        const auto slot = [](std::int32_t at) {
            return at < 0 ? std::string("–") : std::to_string(at);
        };
        for (const diff::ExpertPair& expert : detail->experts)
            if (expert.referenceSlot >= 0 || expert.targetSlot >= 0)
                table.add({std::to_string(expert.expert), slot(expert.referenceSlot),
                           figure(expert.referenceLogit), figure(expert.referenceWeight),
                           slot(expert.targetSlot), figure(expert.targetLogit),
                           figure(expert.targetWeight)});
        return "\nExperts chosen: reference, then target\n" + table.text();
    }
    return std::string();
}

Result<std::string> describe(const trace::Run& reference, const trace::Run& target,
                             const diff::Report& report, Pair pair, const diff::SiteName& site,
                             std::size_t worstCount)
{
    const auto detail =
        diff::inspectSite(reference, target, report, pair.row, pair.tap, worstCount);
    if (!detail)
        return detail.error();
    std::string text =
        visibleText(diff::textOf(site)) + "\n\n" + summaryPart(report, pair, *detail);
    if (site.element) {
        const auto element = elementPart(reference, target, report, pair, *site.element);
        return element ? text + *element : element;
    }
    if (report.taps[pair.tap].name == trace::headTapName && reference.header().logits.vocabulary > 0
        && target.header().logits.vocabulary > 0) {
        const auto head = headPart(reference, target, report, pair.row);
        if (!head)
            return head.error();
        text += *head;
    }
    const auto routing = routerPart(reference, target, report, pair);
    if (!routing)
        return routing.error();
    return text + *routing + worstPart(*detail) + histogramPart(*detail) + classPart(*detail);
}

} // namespace

Result<std::string> describeSitePair(const trace::RunPointer& reference,
                                     const trace::RunPointer& target, const diff::SiteName& site,
                                     std::size_t worstCount)
{
    auto aligned = diff::align(*reference, *target, {});
    if (!aligned)
        return aligned.error();
    const auto alignment = std::make_shared<const diff::Alignment>(std::move(*aligned));
    const auto rows = findRows(*reference, *alignment, site);
    if (!rows)
        return rows.error();
    const auto tap = findTapPair(*reference, *alignment, site);
    if (!tap)
        return tap.error();
    if (site.element && *site.element >= alignment->taps[*tap].width)
        return notFound(*reference, "of the tap '" + visibleText(site.tap) + "' "
                                        + countOf(alignment->taps[*tap].width, "element")
                                        + " are compared, none of index "
                                        + std::to_string(*site.element));
    diff::ComparisonOptions options;
    options.resamples = 0;
    diff::Comparison comparison(reference, target, alignment, options);
    if (auto added = comparison.add(rows->begin, rows->end); !added)
        return added.error();
    const diff::Report report = comparison.report();
    return describe(*reference, *target, report, {rows->end - 1, *tap}, site, worstCount);
}

} // namespace moire::report
