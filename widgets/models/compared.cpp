// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/compared.h"

#include "core/base/text.h"

#include <algorithm>
#include <string_view>

namespace moire::widgets {

namespace {

std::vector<TokenCell> tokenCells(std::span<const trace::Token> tokens,
                                  std::optional<std::uint32_t> split)
{
    std::vector<TokenCell> cells;
    cells.reserve(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const trace::Token& token = tokens[i];
        cells.push_back(
            {tokenText(token.bytes, token.id), token.id, token.response, !split || i <= *split});
    }
    return cells;
}

/// The reference's sample of a report entry: the next one of that id from `from` on.
std::optional<trace::SampleIndex> nextSample(const trace::Run& run, std::string_view id,
                                             std::size_t from)
{
    const auto samples = run.samples();
    for (std::size_t i = from; i < samples.size(); ++i)
        if (samples[i].id == id)
            return static_cast<trace::SampleIndex>(i);
    return run.findSample(id);
}

std::optional<trace::SampleIndex> targetSample(const Compared& compared, const SampleEntry& entry)
{
    if (entry.rowBegin < entry.rowEnd)
        return compared.target->row(compared.report.rows[entry.rowBegin].target).sample;
    return compared.target->findSample(entry.id.toStdString());
}

void fillTokens(const Compared& compared, SampleEntry& entry)
{
    const auto reference = compared.reference->tokens(entry.reference);
    const auto target =
        entry.target ? compared.target->tokens(*entry.target) : std::span<const trace::Token>{};
    entry.referenceTokens = tokenCells(reference, entry.split);
    entry.targetTokens = tokenCells(target, entry.split);
    std::size_t columns = std::max(reference.size(), target.size());
    for (std::size_t row = entry.rowBegin; row < entry.rowEnd; ++row)
        columns = std::max<std::size_t>(columns, compared.report.rows[row].position + 1U);
    entry.rowOfColumn.assign(columns, -1);
    for (std::size_t row = entry.rowBegin; row < entry.rowEnd; ++row)
        entry.rowOfColumn[compared.report.rows[row].position] = static_cast<std::int64_t>(row);
}

/// What the strips and marks need of every position.
void fillMarks(const Compared& compared, SampleEntry& entry)
{
    const diff::Report& report = compared.report;
    const std::size_t routers = report.routerPairs.size();
    entry.klCells.resize(entry.columns());
    for (std::size_t column = 0; column < entry.columns(); ++column) {
        const auto row = entry.rowAt(column);
        entry.klCells[column] = row ? compared.klCell(*row) : entry.emptyCell(column);
        if (!row)
            continue;
        if (*row < report.logits.size()
            && report.logits[*row].referenceTop != report.logits[*row].targetTop)
            entry.flips.push_back(column);
        for (std::size_t router = 0; router < routers; ++router)
            if (report.routes[*row * routers + router].replaced > 0) {
                entry.routeChanges.push_back(column);
                break;
            }
    }
}

void fillSamples(Compared& compared)
{
    const diff::Report& report = compared.report;
    std::size_t row = 0;
    std::size_t from = 0;
    for (const diff::SampleReport& sample : report.samples) {
        const auto index = nextSample(*compared.reference, sample.id, from);
        if (!index)
            continue;
        from = trace::indexOf(*index) + 1;
        SampleEntry entry;
        entry.id = QString::fromStdString(base::visibleText(sample.id));
        entry.category = QString::fromStdString(base::visibleText(sample.category));
        entry.reference = *index;
        entry.split = sample.split;
        entry.blocks = sample.blocks;
        entry.rowBegin = row;
        while (row < report.rows.size() && report.rows[row].sample == *index)
            ++row;
        entry.rowEnd = row;
        entry.target = targetSample(compared, entry);
        fillTokens(compared, entry);
        fillMarks(compared, entry);
        compared.samples.push_back(std::move(entry));
    }
}

void fillWords(Compared& compared)
{
    for (const SampleEntry& sample : compared.samples)
        for (const auto* tokens : {&sample.referenceTokens, &sample.targetTokens})
            for (const TokenCell& token : *tokens)
                compared.words.try_emplace(token.id, token.text);
}

void fillRanges(Compared& compared)
{
    std::array<RangeFinder, allHeatMeasures.size()> finders;
    const auto add = [&finders](std::size_t measure, float size) {
        finders[measure].add(static_cast<double>(size));
    };
    for (const diff::Site& site : compared.report.sites)
        if (site.state == diff::Site::State::Different)
            for (std::size_t m = 0; m < allHeatMeasures.size(); ++m)
                if (allHeatMeasures[m] != HeatMeasure::Kl)
                    add(m, cellOf(site, allHeatMeasures[m]));
    for (std::size_t row = 0; row < compared.report.rows.size(); ++row)
        add(static_cast<std::size_t>(HeatMeasure::Kl), compared.klCell(row));
    for (std::size_t m = 0; m < finders.size(); ++m) {
        compared.ranges[m] = finders[m].range();
        // A share is at most 1 and a ulp distance at least 1: their scales start and end there.
        if (allHeatMeasures[m] == HeatMeasure::UnequalShare)
            compared.ranges[m] = {std::min(compared.ranges[m].low, -1), 0};
        if (allHeatMeasures[m] == HeatMeasure::MaxUlp)
            compared.ranges[m] = {0, std::max(compared.ranges[m].high, 1)};
    }
}

std::uint64_t comparedBytes(const Compared& compared)
{
    std::uint64_t bytes = 0;
    const auto& taps = compared.reference->header().taps;
    for (std::size_t i = 0; i < compared.report.sites.size(); ++i) {
        if (!compared.report.sites[i].valuesCompared)
            continue;
        const auto& pair = compared.report.tapPairs[i % compared.report.tapPairs.size()];
        bytes += 2 * taps[trace::indexOf(pair.reference)].rowBytes();
    }
    return bytes;
}

std::uint64_t gapsOf(const trace::Run& run)
{
    const auto events = run.events();
    return static_cast<std::uint64_t>(
        std::count_if(events.begin(), events.end(), [](const trace::Event& event) {
            return event.kind == "gap" || event.kind == "drop";
        }));
}

} // namespace

std::optional<std::size_t> SampleEntry::rowAt(std::size_t column) const
{
    if (column >= rowOfColumn.size() || rowOfColumn[column] < 0)
        return std::nullopt;
    return static_cast<std::size_t>(rowOfColumn[column]);
}

float SampleEntry::emptyCell(std::size_t column) const
{
    return split && column >= *split ? cell::notComparable : cell::notRecorded;
}

std::size_t Compared::sampleOfRow(std::size_t rowPair) const
{
    const auto after = std::upper_bound(
        samples.begin(), samples.end(), rowPair,
        [](std::size_t row, const SampleEntry& entry) { return row < entry.rowEnd; });
    return static_cast<std::size_t>(after - samples.begin());
}

float Compared::klCell(std::size_t rowPair) const
{
    if (rowPair >= report.logits.size())
        return cell::notRecorded;
    return klCellOf(report.logits[rowPair], headTap ? &report.site(rowPair, *headTap) : nullptr);
}

std::shared_ptr<Compared> indexReport(trace::RunPointer reference, trace::RunPointer target,
                                      diff::Report report)
{
    auto compared = std::make_shared<Compared>();
    compared->reference = std::move(reference);
    compared->target = std::move(target);
    compared->report = std::move(report);
    for (std::size_t tap = 0; tap < compared->report.taps.size(); ++tap)
        if (compared->report.taps[tap].name == trace::headTapName)
            compared->headTap = tap;
    fillSamples(*compared);
    fillWords(*compared);
    fillRanges(*compared);
    compared->divergences = Divergences(compared->report);
    compared->gaps = gapsOf(*compared->reference) + gapsOf(*compared->target);
    compared->bytes = comparedBytes(*compared);
    return compared;
}

QString tokenText(const std::string& bytes, std::int32_t id)
{
    if (bytes.empty())
        return QStringLiteral("<%1>").arg(id);
    QString text = QString::fromStdString(base::visibleText(bytes));
    text.replace(QLatin1Char(' '), QStringLiteral("·"));
    return text;
}

QString tokenText(const Compared& compared, std::int32_t id)
{
    const auto word = compared.words.find(id);
    if (word != compared.words.end())
        return word->second;
    const auto& vocabulary = compared.reference->header().vocabulary;
    const auto place = static_cast<std::size_t>(id);
    return tokenText(id >= 0 && place < vocabulary.size() ? vocabulary[place] : std::string(), id);
}

} // namespace moire::widgets
