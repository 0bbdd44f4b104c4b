// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/run_info.h"

#include "core/base/text.h"
#include "core/diff/sample_name.h"
#include "core/report/json_value.h"
#include "core/report/number.h"
#include "core/report/text_table.h"

#include <algorithm>
#include <map>

namespace moire::report {

namespace {

using base::visibleText;

constexpr std::size_t mostSamples = 20;
constexpr std::size_t mostTextBytes = 60;

std::vector<std::uint64_t> rowsPerSample(const trace::Run& run)
{
    std::vector<std::uint64_t> rows(run.samples().size(), 0);
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r)
        ++rows[trace::indexOf(run.row(r).sample)];
    return rows;
}

std::string phasesText(const trace::Run& run)
{
    std::map<trace::Phase, std::uint64_t> phases;
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r)
        ++phases[run.row(r).phase];
    std::string text;
    for (const auto& [phase, count] : phases)
        text.append(text.empty() ? " (" : ", ")
            .append(grouped(count))
            .append(" ")
            .append(trace::nameOf(phase));
    return text.empty() ? text : text + ')';
}

/// "model.layers.{0–29}.mlp.down_proj.out" for taps that differ in their layer only.
struct TapFamily
{
    std::string pattern;
    const trace::Tap* tap;
    std::int32_t firstLayer, lastLayer;
    std::uint64_t count;
};

std::string patternOf(const trace::Tap& tap)
{
    const std::string layer = '.' + std::to_string(tap.layer) + '.';
    const std::size_t at = tap.layer < 0 ? std::string::npos : tap.name.find(layer);
    if (at == std::string::npos)
        return tap.name;
    return tap.name.substr(0, at + 1) + '*' + tap.name.substr(at + layer.size() - 1);
}

std::vector<TapFamily> tapFamilies(const std::vector<trace::Tap>& taps)
{
    std::vector<TapFamily> families;
    std::map<std::string, std::size_t> places;
    for (const trace::Tap& tap : taps) {
        const std::string pattern = patternOf(tap);
        const auto [at, isNew] = places.emplace(pattern, families.size());
        if (isNew)
            families.push_back({pattern, &tap, tap.layer, tap.layer, 0});
        TapFamily& family = families[at->second];
        family.firstLayer = std::min(family.firstLayer, tap.layer);
        family.lastLayer = std::max(family.lastLayer, tap.layer);
        ++family.count;
    }
    return families;
}

std::string tapsText(const trace::Run& run)
{
    TextTable table({Align::Left, Align::Left, Align::Right, Align::Left, Align::Left});
    for (const TapFamily& family : tapFamilies(run.header().taps)) {
        const std::string layers = family.firstLayer == family.lastLayer
                                       ? std::string()
                                       : "layers " + std::to_string(family.firstLayer) + "–"
                                             + std::to_string(family.lastLayer);
        table.add({visibleText(family.pattern), std::string(numeric::nameOf(family.tap->dtype)),
                   "× " + std::to_string(family.tap->width),
                   std::string(trace::nameOf(family.tap->kind)), layers});
    }
    return "\nTaps, in execution order\n" + table.text();
}

std::string shortened(const std::string& text)
{
    if (text.size() <= mostTextBytes)
        return visibleText(text);
    std::size_t end = mostTextBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
        --end;
    return visibleText(text.substr(0, end)) + " …";
}

std::string samplesText(const trace::Run& run)
{
    const std::vector<std::uint64_t> rows = rowsPerSample(run);
    const bool questions = std::any_of(run.samples().begin(), run.samples().end(),
                                       [](const trace::Sample& s) { return !s.label.empty(); });
    std::vector<Align> columns{Align::Left, Align::Right, Align::Right, Align::Left, Align::Left};
    std::vector<std::string> head{"id", "tokens", "rows", "stopped", "text"};
    if (questions) {
        columns.insert(columns.end() - 1, {Align::Left, Align::Left});
        head.insert(head.end() - 1, {"label", "answer"});
    }
    TextTable table(columns);
    table.add(head);
    const std::size_t shown = std::min(run.samples().size(), mostSamples);
    for (std::size_t i = 0; i < shown; ++i) {
        const trace::Sample& sample = run.samples()[i];
        const auto tokens = run.tokens(static_cast<trace::SampleIndex>(i)).size();
        std::vector<std::string> cells{
            visibleText(diff::sampleName(run, static_cast<trace::SampleIndex>(i))), grouped(tokens),
            grouped(rows[i]), visibleText(sample.stopReason), shortened(sample.text)};
        if (questions)
            cells.insert(cells.end() - 1,
                         {visibleText(sample.label), visibleText(sample.prediction)});
        table.add(cells);
    }
    std::string text = "\nSamples\n" + table.text();
    if (run.samples().size() > shown)
        text += "  and " + grouped(run.samples().size() - shown) + " more\n";
    return text;
}

std::string routersText(const trace::Run& run)
{
    const auto& routers = run.header().routers;
    if (routers.empty())
        return {};
    TextTable table({Align::Left, Align::Left});
    for (const trace::RouterLayer& router : routers)
        table.add({visibleText(router.module),
                   std::to_string(router.chosen) + " of " + countOf(router.experts, "expert")});
    return "\nRouters\n" + table.text();
}

std::string eventsText(const trace::Run& run)
{
    if (run.events().empty())
        return {};
    TextTable table({Align::Right, Align::Left, Align::Left});
    for (const trace::Event& event : run.events())
        table.add(
            {"row " + std::to_string(event.row), visibleText(event.kind), visibleText(event.text)});
    return "\nEvents\n" + table.text();
}

Json tapObject(const trace::Tap& tap, const std::vector<trace::Tap>& taps)
{
    Json inputs = Json::array();
    for (const trace::TapIndex input : tap.inputs)
        inputs.push_back(stringOf(taps[trace::indexOf(input)].name));
    return {{"name", stringOf(tap.name)},
            {"layer", tap.layer < 0 ? Json() : Json(tap.layer)},
            {"kind", trace::nameOf(tap.kind)},
            {"dtype", numeric::nameOf(tap.dtype)},
            {"width", tap.width},
            {"slots", tap.slots},
            {"inputs", inputs}};
}

Json sampleList(const trace::Run& run)
{
    const std::vector<std::uint64_t> rows = rowsPerSample(run);
    Json out = Json::array();
    for (std::size_t i = 0; i < run.samples().size(); ++i) {
        const trace::Sample& sample = run.samples()[i];
        out.push_back({{"id", stringOf(sample.id)},
                       {"repeat", sample.repeat},
                       {"category", stringOf(sample.category)},
                       {"tokens", run.tokens(static_cast<trace::SampleIndex>(i)).size()},
                       {"rows", rows[i]},
                       {"stop_reason", stringOf(sample.stopReason)}});
    }
    return out;
}

Json routerList(const trace::Run& run)
{
    Json out = Json::array();
    for (const trace::RouterLayer& router : run.header().routers)
        out.push_back({{"module", stringOf(router.module)},
                       {"layer", router.layer},
                       {"experts", router.experts},
                       {"chosen", router.chosen}});
    return out;
}

Json eventList(const trace::Run& run)
{
    Json out = Json::array();
    for (const trace::Event& event : run.events())
        out.push_back(
            {{"row", event.row}, {"kind", stringOf(event.kind)}, {"text", stringOf(event.text)}});
    return out;
}

} // namespace

std::string infoText(const trace::Run& run)
{
    const trace::RunHeader& header = run.header();
    std::string text = visibleText(run.source()) + ": ";
    const auto missing = run.missingRows();
    if (run.complete())
        text += "complete";
    else
        text += missing && *missing > 0 ? "incomplete, " + countOf(*missing, "row") + " missing"
                                        : "incomplete";
    text += "\n\n";
    TextTable counts({Align::Left, Align::Left});
    counts.add({"level", std::string(trace::nameOf(header.level))});
    counts.add({"samples", grouped(run.samples().size())});
    counts.add({"rows", grouped(run.rowCount()) + phasesText(run)});
    counts.add({"taps", grouped(header.taps.size())});
    if (header.logits.vocabulary > 0)
        counts.add({"logits", countOf(header.logits.vocabulary, "id") + ", "
                                  + std::string(numeric::nameOf(header.logits.dtype)) + ", top "
                                  + std::to_string(header.logits.topK) + " a row"});
    text += counts.text();
    TextTable environment({Align::Left, Align::Left});
    for (const auto& [key, value] : header.environment.fields())
        environment.add({visibleText(key), visibleText(trace::textOf(value))});
    text += "\nEnvironment\n" + environment.text();
    return text + samplesText(run) + tapsText(run) + routersText(run) + eventsText(run);
}

std::string infoJson(const trace::Run& run)
{
    const trace::RunHeader& header = run.header();
    Json out;
    out["file"] = stringOf(run.source());
    out["complete"] = run.complete();
    const auto missing = run.missingRows();
    out["missing_rows"] = missing ? Json(*missing) : Json();
    out["level"] = trace::nameOf(header.level);
    out["rows"] = run.rowCount();
    out["samples"] = run.samples().size();
    out["taps"] = header.taps.size();
    out["routers"] = header.routers.size();
    out["environment"] = environmentObject(header.environment);
    out["logits"] = {{"vocabulary", header.logits.vocabulary},
                     {"dtype", numeric::nameOf(header.logits.dtype)},
                     {"top_k", header.logits.topK}};
    out["sample_list"] = sampleList(run);
    out["tap_list"] = Json::array();
    for (const trace::Tap& tap : header.taps)
        out["tap_list"].push_back(tapObject(tap, header.taps));
    out["router_list"] = routerList(run);
    out["events"] = eventList(run);
    return printed(out);
}

} // namespace moire::report
