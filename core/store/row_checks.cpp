// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/row_checks.h"

#include "core/store/router_checks.h"
#include "core/trace/row_block.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

namespace moire::store {

namespace {

bool sameBits(float a, float b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Mean and L2 may have been summed in another order and precision, but not be another number.
bool sumsAgree(const trace::Statistics& expected, const trace::Statistics& recorded, double width)
{
    constexpr double share = 1e-3;
    const auto close = [&](double a, double b, double scale) {
        return a == b || std::abs(a - b) <= share * scale;
    };
    const double l2 = expected.l2;
    return close(expected.l2, recorded.l2, l2)
           && close(expected.mean, recorded.mean, l2 / std::sqrt(width));
}

std::vector<std::uint64_t> repeatedPositions(const RowPlaces& rows)
{
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>> all;
    all.reserve(rows.rowCount());
    for (std::uint64_t r = 0; r < rows.rowCount(); ++r) {
        const RowRecord row = rows.record(r);
        all.emplace_back(row.sample, row.position, r);
    }
    std::sort(all.begin(), all.end());
    std::vector<std::uint64_t> repeated;
    for (std::size_t i = 1; i < all.size(); ++i)
        if (std::get<0>(all[i]) == std::get<0>(all[i - 1])
            && std::get<1>(all[i]) == std::get<1>(all[i - 1]))
            repeated.push_back(std::get<2>(all[i]));
    std::sort(repeated.begin(), repeated.end());
    return repeated;
}

} // namespace

/// The checks of one row.
class RowChecks::Row
{
public:
    Row(const RowChecks& checks, std::uint64_t r, std::vector<Finding>& findings)
        : m_tables(checks.m_tables)
        , m_rows(checks.m_rows)
        , m_repeated(checks.m_repeated)
        , m_row(r)
        , m_findings(findings)
    {}

    void check()
    {
        for (const auto& fault : {m_rows.recordFault(m_row), m_rows.digestFault(m_row)})
            if (fault)
                note(fault->place, fault->sentence);
        checkPosition();
        checkCounts();
        if (m_tables.header.level == trace::Level::Full) {
            checkValues();
            checkTopK();
        }
        checkIds();
        checkRouting();
    }

private:
    void note(const std::string& place, const std::string& sentence)
    {
        m_findings.push_back({place + ", row " + std::to_string(m_row), sentence});
    }

    template <class T>
    T at(std::uint32_t table, std::size_t place) const
    {
        T value;
        std::memcpy(&value, m_rows.line(table, m_row) + place * sizeof value, sizeof value);
        return value;
    }

    void checkPosition();
    void checkCounts();
    void checkValues();
    void checkTopK();
    void checkIds();
    void checkIdRange(std::uint32_t table, std::uint32_t count, std::uint64_t limit);
    void checkRouting();

    const RunTables& m_tables;
    const RowPlaces& m_rows;
    const std::vector<std::uint64_t>& m_repeated;
    std::uint64_t m_row;
    std::vector<Finding>& m_findings;
};

/// A sample has a token at every recorded position, and each position once.
void RowChecks::Row::checkPosition()
{
    const RowRecord row = m_rows.record(m_row);
    if (row.sample >= m_tables.samples.size())
        return;
    if (row.position >= m_tables.tokens[row.sample].size())
        note("/rows", "has a position without a token");
    if (std::binary_search(m_repeated.begin(), m_repeated.end(), m_row))
        note("/rows", "records a position of its sample a second time");
}

void RowChecks::Row::checkCounts()
{
    for (std::size_t t = 0; t < m_tables.header.taps.size(); ++t) {
        const auto counts = at<trace::Counts>(CountsTable, t);
        const std::uint64_t all = std::uint64_t{counts.finite} + counts.nan + counts.infinite;
        if (all != m_tables.header.taps[t].width)
            note("/counts",
                 "the classes of " + m_tables.header.taps[t].name + " do not add up to its width");
    }
}

void RowChecks::Row::checkValues()
{
    const trace::RunHeader& header = m_tables.header;
    for (std::size_t t = 0; t < header.taps.size(); ++t) {
        const trace::Tap& tap = header.taps[t];
        const trace::RowSummary summary =
            trace::summarise(m_rows.line(tableOfTap(header, t), m_row), tap.dtype, tap.width);
        if (summary.digest != at<std::uint64_t>(Digests, t))
            note("/values/" + tap.name, "the values do not give the row digest");
        if (summary.counts != at<trace::Counts>(CountsTable, t))
            note("/counts", "the values of " + tap.name + " give other counts");
        // Mean and L2 depend on the order of a device's sums, the extremes do not.
        const auto statistics = at<trace::Statistics>(StatisticsTable, t);
        if (!(sameBits(summary.statistics.min, statistics.min)
              && sameBits(summary.statistics.max, statistics.max))
            && summary.counts.finite > 0
            && !(summary.statistics.min == statistics.min
                 && summary.statistics.max == statistics.max))
            note("/statistics", "the values of " + tap.name + " give other extremes");
        else if (summary.counts.finite > 0 && !sumsAgree(summary.statistics, statistics, tap.width))
            note("/statistics", "the values of " + tap.name + " give another mean or L2");
    }
}

/// The top-K table and the token's score against the logits themselves.
void RowChecks::Row::checkTopK()
{
    const trace::RunHeader& header = m_tables.header;
    const auto head =
        std::find_if(header.taps.begin(), header.taps.end(),
                     [](const trace::Tap& tap) { return tap.name == trace::headTapName; });
    if (header.logits.vocabulary == 0 || head == header.taps.end()
        || head->width != header.logits.vocabulary || head->dtype != header.logits.dtype)
        return;
    const auto tap = static_cast<std::size_t>(head - header.taps.begin());
    const RowRecord row = m_rows.record(m_row);
    trace::LogitsInfo info = header.logits;
    info.asked = 0;
    trace::TopKBlock expected;
    const trace::TokenScore score =
        trace::appendTopK(info, m_rows.line(tableOfTap(header, tap), m_row), row.scoreId, expected);
    for (std::size_t i = 0; i < info.topK; ++i)
        if (at<std::int32_t>(TopKIds, i) != expected.ids[i]
            || (expected.ids[i] >= 0 && !sameBits(at<float>(TopKValues, i), expected.values[i])))
            return note("/top_k", "the logits give another ranking");
    if (row.scoreId >= 0 && row.scoreRank != score.rank)
        note("/rows", "the logits give the token another rank");
}

void RowChecks::Row::checkIds()
{
    const trace::RunHeader& header = m_tables.header;
    for (const auto table : {TopKIds, AskedIds})
        checkIdRange(table, table == TopKIds ? header.logits.topK : header.logits.asked,
                     header.logits.vocabulary);
    for (std::size_t j = 0; j < header.routers.size(); ++j)
        checkIdRange(tableOfRouter(j, 0), header.routers[j].chosen, header.routers[j].experts);
}

void RowChecks::Row::checkIdRange(std::uint32_t table, std::uint32_t count, std::uint64_t limit)
{
    const std::byte* line = m_rows.line(table, m_row);
    for (std::uint32_t i = 0; line != nullptr && i < count; ++i) {
        std::int32_t id = 0;
        std::memcpy(&id, line + i * sizeof id, sizeof id);
        if (id < -1 || (id >= 0 && static_cast<std::uint64_t>(id) >= limit))
            return note(table < FirstRouter ? "/top_k" : "/routing", "holds an id out of range");
    }
}

/// Experts and their weights against the router's own logits, and those against their tap.
void RowChecks::Row::checkRouting()
{
    const trace::RunHeader& header = m_tables.header;
    for (std::size_t j = 0; j < header.routers.size(); ++j) {
        const trace::RouterLayer& router = header.routers[j];
        const RouterLines lines{
            m_rows.line(tableOfRouter(j, 0), m_row), m_rows.line(tableOfRouter(j, 1), m_row),
            m_rows.line(tableOfRouter(j, 2), m_row),
            router.hasScores ? m_rows.line(tableOfRouter(j, 3), m_row) : nullptr};
        for (const std::string& sentence : routerFaults(router, lines))
            note("/routing/" + router.module, sentence);
        if (header.level != trace::Level::Full)
            continue;
        for (std::size_t t = 0; t < header.taps.size(); ++t) {
            const trace::Tap& tap = header.taps[t];
            if (tap.name != router.module + ".out" || tap.width != router.experts
                || tap.dtype != router.logitType)
                continue;
            if (std::memcmp(lines.logits, m_rows.line(tableOfTap(header, t), m_row), tap.rowBytes())
                != 0)
                note("/routing/" + router.module, "the logits are not the values of " + tap.name);
        }
    }
}

RowChecks::RowChecks(const RunTables& tables, const RowPlaces& rows)
    : m_tables(tables)
    , m_rows(rows)
    , m_repeated(repeatedPositions(rows))
{}

void RowChecks::check(std::uint64_t r, std::vector<Finding>& findings) const
{
    Row(*this, r, findings).check();
}

std::uint64_t RowChecks::recordDigest(std::uint64_t r) const
{
    constexpr std::uint64_t words = sizeof(RowRecord) / 8;
    return digestFrom(m_rows.line(Rows, r), sizeof(RowRecord), 8, r * words);
}

} // namespace moire::store
