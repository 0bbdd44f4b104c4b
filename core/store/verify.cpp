// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/verify.h"

#include "core/store/row_places.h"
#include "core/store/run_tables.h"
#include "core/trace/row_block.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <set>
#include <utility>

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

/// One walk over an open capture.
class Verification
{
public:
    Verification(CaptureFile& file, const RunTables& tables, const RowPlaces& rows,
                 std::size_t limit)
        : m_file(file)
        , m_tables(tables)
        , m_rows(rows)
        , m_limit(limit)
    {
        for (const std::string& place : file.disagreements())
            note(place, "the content does not give the recorded digest");
    }

    Result<std::vector<Finding>> run(std::stop_token stop, base::Progress& progress)
    {
        progress.total = m_rows.rowCount();
        checkEvents();
        std::uint64_t digest = 0;
        for (std::uint64_t r = 0; r < m_rows.rowCount() && !full(); ++r) {
            if (stop.stop_requested())
                return Error{Errc::Cancelled, "verification was stopped", m_file.name(), {}};
            checkRow(r);
            constexpr std::uint64_t words = sizeof(RowRecord) / 8;
            digest += digestFrom(m_rows.line(Rows, r), sizeof(RowRecord), 8, r * words);
            progress.done = r + 1;
        }
        const CountAndDigest& committed = m_file.commit().tables[Rows];
        if (!full() && m_rows.rowCount() == committed.count && digest != committed.digest)
            note("/rows", "the content does not give the recorded digest");
        if (auto sound = m_file.stillSound(); !sound)
            return sound.error();
        return std::move(m_findings);
    }

private:
    bool full() const { return m_findings.size() >= m_limit; }
    void note(const std::string& place, const std::string& sentence)
    {
        if (!full())
            m_findings.push_back({place, sentence});
    }
    void noteRow(std::uint64_t r, const std::string& place, const std::string& sentence)
    {
        note(place + ", row " + std::to_string(r), sentence);
    }

    void checkEvents()
    {
        for (std::size_t i = 0; i < m_tables.events.size(); ++i)
            if (m_tables.events[i].row > m_rows.rowCount())
                note("/events, record " + std::to_string(i), "names a row that is not there");
    }

    void checkRow(std::uint64_t r)
    {
        for (const auto& fault : {m_rows.recordFault(r), m_rows.digestFault(r)})
            if (fault)
                noteRow(r, fault->place, fault->sentence);
        checkPosition(r);
        checkCounts(r);
        if (m_tables.header.level == trace::Level::Full) {
            checkValues(r);
            checkTopK(r);
        }
        checkIds(r);
    }

    /// A sample has a token at every recorded position, and each position once.
    void checkPosition(std::uint64_t r)
    {
        const RowRecord row = m_rows.record(r);
        if (row.sample >= m_tables.samples.size())
            return;
        if (row.position >= m_tables.tokens[row.sample].size())
            noteRow(r, "/rows", "has a position without a token");
        if (!m_seen.insert({row.sample, row.position}).second)
            noteRow(r, "/rows", "records a position of its sample a second time");
    }

    void checkCounts(std::uint64_t r)
    {
        for (std::size_t t = 0; t < m_tables.header.taps.size(); ++t) {
            const trace::Counts counts = at<trace::Counts>(CountsTable, r, t);
            const std::uint64_t all = std::uint64_t{counts.finite} + counts.nan + counts.infinite;
            if (all != m_tables.header.taps[t].width)
                noteRow(r, "/counts",
                        "the classes of " + m_tables.header.taps[t].name
                            + " do not add up to its width");
        }
    }

    void checkValues(std::uint64_t r)
    {
        const trace::RunHeader& header = m_tables.header;
        for (std::size_t t = 0; t < header.taps.size(); ++t) {
            const trace::Tap& tap = header.taps[t];
            const trace::RowSummary summary =
                trace::summarise(m_rows.line(tableOfTap(header, t), r), tap.dtype, tap.width);
            if (summary.digest != at<std::uint64_t>(Digests, r, t))
                noteRow(r, "/values/" + tap.name, "the values do not give the row digest");
            if (summary.counts != at<trace::Counts>(CountsTable, r, t))
                noteRow(r, "/counts", "the values of " + tap.name + " give other counts");
            // Mean and L2 depend on the order of a device's sums, the extremes do not.
            const auto statistics = at<trace::Statistics>(StatisticsTable, r, t);
            if (!(sameBits(summary.statistics.min, statistics.min)
                  && sameBits(summary.statistics.max, statistics.max))
                && summary.counts.finite > 0
                && !(summary.statistics.min == statistics.min
                     && summary.statistics.max == statistics.max))
                noteRow(r, "/statistics", "the values of " + tap.name + " give other extremes");
            else if (summary.counts.finite > 0
                     && !sumsAgree(summary.statistics, statistics, tap.width))
                noteRow(r, "/statistics", "the values of " + tap.name + " give another mean or L2");
        }
    }

    /// The top-K table and the token's score against the logits themselves.
    void checkTopK(std::uint64_t r)
    {
        const trace::RunHeader& header = m_tables.header;
        const auto head =
            std::find_if(header.taps.begin(), header.taps.end(),
                         [](const trace::Tap& tap) { return tap.name == trace::headTapName; });
        if (header.logits.vocabulary == 0 || head == header.taps.end()
            || head->width != header.logits.vocabulary || head->dtype != header.logits.dtype)
            return;
        const auto tap = static_cast<std::size_t>(head - header.taps.begin());
        const RowRecord row = m_rows.record(r);
        trace::LogitsInfo info = header.logits;
        info.asked = 0;
        trace::TopKBlock expected;
        const trace::TokenScore score =
            trace::appendTopK(info, m_rows.line(tableOfTap(header, tap), r), row.scoreId, expected);
        for (std::size_t i = 0; i < info.topK; ++i)
            if (at<std::int32_t>(TopKIds, r, i) != expected.ids[i]
                || (expected.ids[i] >= 0
                    && !sameBits(at<float>(TopKValues, r, i), expected.values[i])))
                return noteRow(r, "/top_k", "the logits give another ranking");
        if (row.scoreId >= 0 && row.scoreRank != score.rank)
            noteRow(r, "/rows", "the logits give the token another rank");
    }

    void checkIds(std::uint64_t r)
    {
        const trace::RunHeader& header = m_tables.header;
        for (const auto table : {TopKIds, AskedIds})
            checkIdRange(r, table, table == TopKIds ? header.logits.topK : header.logits.asked,
                         header.logits.vocabulary);
        for (std::size_t j = 0; j < header.routers.size(); ++j)
            checkIdRange(r, tableOfRouter(j, 0), header.routers[j].chosen,
                         header.routers[j].experts);
    }

    void checkIdRange(std::uint64_t r, std::uint32_t table, std::uint32_t count,
                      std::uint64_t limit)
    {
        const std::byte* line = m_rows.line(table, r);
        for (std::uint32_t i = 0; line != nullptr && i < count; ++i) {
            std::int32_t id = 0;
            std::memcpy(&id, line + i * sizeof id, sizeof id);
            if (id < -1 || (id >= 0 && static_cast<std::uint64_t>(id) >= limit))
                return noteRow(r, table < FirstRouter ? "/top_k" : "/routing",
                               "holds an id out of range");
        }
    }

    template <class T>
    T at(std::uint32_t table, std::uint64_t r, std::size_t place) const
    {
        T value;
        std::memcpy(&value, m_rows.line(table, r) + place * sizeof value, sizeof value);
        return value;
    }

    CaptureFile& m_file;
    const RunTables& m_tables;
    const RowPlaces& m_rows;
    std::size_t m_limit;
    std::vector<Finding> m_findings;
    std::set<std::pair<std::uint32_t, std::uint32_t>> m_seen; ///< sample, position
};

} // namespace

Result<std::vector<Finding>> verify(const std::filesystem::path& path, std::stop_token stop,
                                    base::Progress& progress, std::size_t limit)
{
    try {
        auto file = CaptureFile::open(path, OnDisagreement::Note);
        if (!file)
            return file.error();
        auto tables = readRunTables(*file);
        if (!tables)
            return tables.error();
        auto rows = RowPlaces::find(*file, *tables);
        if (!rows)
            return rows.error();
        return Verification(*file, *tables, *rows, limit).run(std::move(stop), progress);
    } catch (const std::exception& exception) {
        return Error{
            Errc::Internal, std::string("cannot verify: ") + exception.what(), path.string(), {}};
    }
}

} // namespace moire::store
