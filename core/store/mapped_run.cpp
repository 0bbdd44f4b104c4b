// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/mapped_run.h"

#include "core/store/row_places.h"
#include "core/store/run_tables.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>
#include <vector>

namespace moire::store {

using trace::RowIndex;

class MappedRun::State
{
public:
    explicit State(CaptureFile captureFile)
        : file(std::move(captureFile))
    {}
    CaptureFile file;
    RunTables tables;
    RowPlaces rows;
    bool beingWritten = false;
    static constexpr RowIndex noRow = ~RowIndex{0};
    mutable std::vector<std::atomic<std::uint64_t>> checkedRows; ///< a bit a row
    mutable std::atomic<RowIndex> firstUnsound{noRow};
    mutable std::atomic<bool> unsound{false};

    Result<void> read(RowIndex soundRows);
    Result<void> checkRowTable();
    void dropUnsoundRows(RowIndex soundRows);

    /// Compares row r's tables with its roll-up and side digest when it is first read (a bit a row
    /// remembers). False when they disagree, now or in any row before: stillSound() says where.
    bool checked(RowIndex r) const
    {
        constexpr unsigned bits = 64;
        if (r >= rows.rowCount())
            return !unsound.load();
        const std::uint64_t bit = std::uint64_t{1} << r % bits;
        std::atomic<std::uint64_t>& word = checkedRows[r / bits];
        if ((word.load(std::memory_order_relaxed) & bit) == 0) {
            if (rows.digestFault(r)) {
                RowIndex none = noRow;
                firstUnsound.compare_exchange_strong(none, r);
                unsound.store(true);
                return false;
            }
            word.fetch_or(bit, std::memory_order_relaxed);
        }
        return !unsound.load(std::memory_order_relaxed);
    }

    Error unsoundRow() const
    {
        // What was cut off reads as zeros, which hold no digest: then that is the reason.
        if (auto whole = file.stillSound(); !whole)
            return whole.error();
        const RowIndex r = firstUnsound.load();
        const auto fault = rows.digestFault(r);
        return file.damaged("row " + std::to_string(r) + ": "
                                + (fault ? fault->sentence : "its digests do not hold"),
                            fault ? fault->place : "/rows");
    }

    template <class T>
    std::span<const T> span(std::uint32_t table, RowIndex r, std::size_t count) const
    {
        if (count == 0 || r >= rows.rowCount())
            return {};
        const std::byte* line = rows.line(table, r);
        return line == nullptr ? std::span<const T>()
                               : std::span<const T>(reinterpret_cast<const T*>(line), count);
    }

    /// An error when the file is known to be cut short. Asking the system takes as long as
    /// comparing a small row, so only every 64th call of a thread does.
    Result<void> stillThere() const
    {
        if (unsound.load(std::memory_order_relaxed))
            return unsoundRow();
        constexpr unsigned callsPerQuestion = 64;
        thread_local unsigned calls = 0;
        if (!file.lost() && ++calls % callsPerQuestion != 0)
            return {};
        return file.stillSound();
    }
};

Result<void> MappedRun::State::read(RowIndex soundRows)
{
    beingWritten = !file.complete() && file.beingWritten();
    auto decoded = readRunTables(file);
    if (!decoded)
        return decoded.error();
    tables = std::move(*decoded);
    auto found = RowPlaces::find(file, tables);
    if (!found)
        return found.error();
    rows = std::move(*found);
    if (file.complete()) {
        if (auto sound = checkRowTable(); !sound)
            return sound;
    } else {
        dropUnsoundRows(soundRows);
        file.need(rows.end());
    }
    constexpr std::size_t bits = 64;
    checkedRows = std::vector<std::atomic<std::uint64_t>>(rows.rowCount() / bits + 1);
    for (RowIndex r = 0; r < std::min(soundRows, rows.rowCount()); ++r)
        checkedRows[r / bits] |= std::uint64_t{1} << r % bits;
    return {};
}

Result<void> MappedRun::State::checkRowTable()
{
    rows.prefetch(Rows);
    std::uint64_t digest = 0;
    constexpr std::uint64_t words = sizeof(RowRecord) / 8;
    for (RowIndex r = 0; r < rows.rowCount(); ++r) {
        if (const auto fault = rows.recordFault(r))
            return file.damaged("row " + std::to_string(r) + " " + fault->sentence, fault->place);
        digest += digestFrom(rows.line(Rows, r), sizeof(RowRecord), 8, r * words);
    }
    if (digest != file.commit().tables[Rows].digest)
        return file.damaged("the content does not give the recorded digest", "/rows");
    return {};
}

void MappedRun::State::dropUnsoundRows(RowIndex soundRows)
{
    constexpr std::uint64_t checkedBytes = std::uint64_t{1} << 30U;
    for (RowIndex r = soundRows; r < rows.rowCount(); ++r)
        if (rows.recordFault(r) || rows.digestFault(r))
            rows.limit(r);
    const std::uint64_t checked =
        std::min(rows.rowCount(), checkedBytes / std::max<std::uint64_t>(1, rows.valueBytes()) + 1);
    for (RowIndex r = std::max(soundRows, rows.rowCount() - checked); r < rows.rowCount(); ++r)
        if (rows.valuesFault(r))
            rows.limit(r);
}

MappedRun::MappedRun(std::unique_ptr<const State> state)
    : m_state(std::move(state))
{}

MappedRun::~MappedRun() = default;

Result<std::shared_ptr<const MappedRun>> MappedRun::open(const std::filesystem::path& path)
{
    return openOwn(path, 0);
}

Result<std::shared_ptr<const MappedRun>> MappedRun::openOwn(const std::filesystem::path& path,
                                                            RowIndex soundRows)
{
    try {
        auto file = CaptureFile::open(path, OnDisagreement::Refuse);
        if (!file)
            return file.error();
        auto state = std::make_unique<State>(std::move(*file));
        if (auto read = state->read(soundRows); !read)
            return read.error();
        if (auto sound = state->file.stillSound(); !sound)
            return sound.error();
        return std::shared_ptr<const MappedRun>(new MappedRun(std::move(state)));
    } catch (const std::exception& exception) {
        return Error{
            Errc::Internal, std::string("cannot read: ") + exception.what(), path.string(), {}};
    }
}

const trace::RunHeader& MappedRun::header() const
{
    return m_state->tables.header;
}

std::string MappedRun::source() const
{
    return m_state->file.name();
}

std::uint64_t MappedRun::generation() const
{
    return m_state->file.commit().sequence;
}

bool MappedRun::complete() const
{
    return m_state->file.complete();
}

bool MappedRun::beingWritten() const
{
    return m_state->beingWritten;
}

std::optional<std::uint64_t> MappedRun::missingRows() const
{
    if (complete())
        return 0;
    const CommitRecord& commit = m_state->file.commit();
    if (commit.expectedExact == 0 || commit.expectedRows < rowCount())
        return std::nullopt;
    return commit.expectedRows - rowCount();
}

std::span<const trace::Sample> MappedRun::samples() const
{
    return m_state->tables.samples;
}

std::span<const trace::Token> MappedRun::tokens(trace::SampleIndex sample) const
{
    if (indexOf(sample) >= m_state->tables.tokens.size())
        return {};
    return m_state->tables.tokens[indexOf(sample)];
}

std::span<const trace::Event> MappedRun::events() const
{
    return m_state->tables.events;
}

RowIndex MappedRun::rowCount() const
{
    return m_state->rows.rowCount();
}

trace::Row MappedRun::row(RowIndex r) const
{
    if (r >= rowCount())
        return {};
    const RowRecord record = m_state->rows.record(r);
    trace::Row row;
    row.sample = static_cast<trace::SampleIndex>(record.sample);
    row.position = record.position;
    row.step = record.step;
    row.batchSlot = record.batchSlot;
    row.phase = trace::phaseFromNumber(record.phase).value_or(trace::Phase::Prefill);
    row.construction =
        trace::constructionFromNumber(record.construction).value_or(trace::Construction::Once);
    row.rollUp = record.rollUp;
    row.score = {record.scoreId, record.scoreLogit, record.scoreLogProb, record.scoreRank};
    return row;
}

std::span<const std::uint64_t> MappedRun::digests(RowIndex r) const
{
    m_state->checked(r);
    return m_state->span<std::uint64_t>(Digests, r, header().taps.size());
}

std::span<const trace::Counts> MappedRun::counts(RowIndex r) const
{
    m_state->checked(r);
    return m_state->span<trace::Counts>(CountsTable, r, header().taps.size());
}

std::span<const trace::Statistics> MappedRun::statistics(RowIndex r) const
{
    m_state->checked(r);
    return m_state->span<trace::Statistics>(StatisticsTable, r, header().taps.size());
}

Result<trace::ValueView> MappedRun::values(trace::TapIndex tap, RowIndex rowBegin,
                                           RowIndex rowEnd) const
{
    const trace::RunHeader& run = header();
    if (run.level != trace::Level::Full)
        return Error{Errc::NotFound,
                     "values were not recorded at level " + std::string(nameOf(run.level)),
                     source(), "Record with --level full"};
    if (rowBegin >= rowEnd || rowEnd > rowCount() || indexOf(tap) >= run.taps.size())
        return Error{Errc::Invalid, "no such rows or tap", source(), {}};
    if (auto there = m_state->stillThere(); !there)
        return there.error();
    const trace::Tap& description = run.taps[indexOf(tap)];
    const std::uint64_t perChunk = m_state->rows.rowsPerChunk();
    const RowIndex chunkEnd = (rowBegin / perChunk + 1) * perChunk;
    return trace::ValueView{m_state->rows.line(tableOfTap(run, indexOf(tap)), rowBegin),
                            description.rowBytes(),
                            rowBegin,
                            std::min(rowEnd, chunkEnd),
                            description.dtype,
                            description.width};
}

Result<trace::TopKView> MappedRun::topK(RowIndex r) const
{
    const trace::LogitsInfo& logits = header().logits;
    if (logits.vocabulary == 0 || r >= rowCount())
        return Error{Errc::NotFound, "logits were not recorded", source(), {}};
    if (!m_state->checked(r))
        return m_state->unsoundRow();
    if (auto there = m_state->stillThere(); !there)
        return there.error();
    return trace::TopKView{m_state->span<std::int32_t>(TopKIds, r, logits.topK),
                           m_state->span<float>(TopKValues, r, logits.topK),
                           m_state->span<double>(LogSumExp, r, 1)[0],
                           m_state->span<double>(RemainingMass, r, 1)[0],
                           m_state->span<std::int32_t>(AskedIds, r, logits.asked),
                           m_state->span<float>(AskedValues, r, logits.asked)};
}

Result<trace::RoutingView> MappedRun::routing(std::size_t router, RowIndex r) const
{
    if (router >= header().routers.size() || r >= rowCount())
        return Error{Errc::NotFound, "no such router or row", source(), {}};
    if (!m_state->checked(r))
        return m_state->unsoundRow();
    if (auto there = m_state->stillThere(); !there)
        return there.error();
    const trace::RouterLayer& layer = header().routers[router];
    const RowPlaces& rows = m_state->rows;
    return trace::RoutingView{
        m_state->span<std::int32_t>(tableOfRouter(router, 0), r, layer.chosen),
        rows.line(tableOfRouter(router, 1), r), rows.line(tableOfRouter(router, 2), r),
        reinterpret_cast<const float*>(rows.line(tableOfRouter(router, 3), r))};
}

Result<void> MappedRun::stillSound() const
{
    if (m_state->unsound.load())
        return m_state->unsoundRow();
    return m_state->file.stillSound();
}

} // namespace moire::store
