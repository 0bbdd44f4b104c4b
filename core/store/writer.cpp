// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/writer.h"

#include "core/store/gathered_rows.h"
#include "core/store/part_file.h"
#include "core/store/record_streams.h"
#include "core/store/target_path.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

namespace moire::store {

namespace {

using Clock = std::chrono::steady_clock;

/// Bytes of a chunk of all row tables together: what one round of HDF5 calls (some 20 µs a dataset,
/// measured) makes room for, and what may stay unused at the end of a run that was cut short.
constexpr std::uint64_t largestGeneration = std::uint64_t{256} << 20U;
constexpr std::uint64_t smallestGeneration = std::uint64_t{16} << 20U;
constexpr std::uint64_t mostGenerations = 512;
constexpr std::uint64_t generationsOfABound = 8;
constexpr std::uint64_t firstRoom = std::uint64_t{1} << 30U;
constexpr std::uint64_t largestChunk = 0xFFFFFFFFU; ///< HDF5: bytes of one chunk

std::uint64_t divideUp(std::uint64_t a, std::uint64_t b)
{
    return a / b + (a % b == 0 ? 0 : 1);
}

std::uint64_t rowsPerChunk(const std::vector<TableSpec>& tables, const WriterOptions& options)
{
    std::uint64_t rowBytes = 0;
    std::uint64_t widest = 1;
    for (const TableSpec& table : tables) {
        rowBytes += table.recordBytes;
        widest = std::max<std::uint64_t>(widest, table.recordBytes);
    }
    const std::uint64_t rows = options.expectedRows;
    const std::uint64_t most = std::max<std::uint64_t>(1, largestChunk / widest);
    if (rows == 0) {
        constexpr std::uint64_t fewest = 16;
        constexpr std::uint64_t usual = 256;
        return std::min(most, std::clamp(largestGeneration / 4 / rowBytes, fewest, usual));
    }
    const std::uint64_t mostRows = std::uint64_t{1} << 40U;
    const std::uint64_t bytes = std::min(rows, mostRows) * std::min(rowBytes, mostRows >> 20U);
    std::uint64_t generations = divideUp(bytes, largestGeneration);
    if (!options.expectedRowsExact)
        generations =
            std::max(generations, std::min(generationsOfABound, bytes / smallestGeneration));
    generations = std::clamp<std::uint64_t>(generations, 1, mostGenerations);
    return std::clamp<std::uint64_t>(divideUp(rows, generations), 1, most);
}

/// Records a chunk of tables 0 … 13 holds.
std::uint64_t chunkRecords(std::uint32_t table, RecordStreams& streams,
                           const WriterOptions& options, std::uint64_t rowsChunk,
                           std::size_t rowTableCount)
{
    // An unknown run may be long: its chunks are those of some thousand rows.
    const std::uint64_t rows =
        options.expectedRows == 0 ? 4096 : std::min<std::uint64_t>(options.expectedRows, 1U << 30U);
    switch (table) {
    case Text:
        return std::max(divideUp(streams.stream(Text).total.count, 4096) * 4096,
                        std::clamp<std::uint64_t>(rows * 8, 4096, 1U << 20U));
    case Run:
    case Taps:
    case TapInputs:
    case Routers:
        return std::max<std::uint64_t>(1, streams.stream(table).total.count);
    case Tokens:
        return streams.stream(Tokens).total.count // the vocabulary
               + std::clamp<std::uint64_t>(rows, 64, 1U << 16U);
    case Samples:
    case Endings:
        return std::clamp<std::uint64_t>(rows / 32, 16, 1U << 12U);
    case Rows:
        return rowsChunk;
    case Commits:
        return 2;
    case Index:
        return std::max<std::uint64_t>(256, 4 * rowTableCount);
    default:
        return 64;
    }
}

Error failed(const std::exception& exception, const std::filesystem::path& path)
{
    return {Errc::Internal, std::string("cannot write: ") + exception.what(), path.string(), {}};
}

} // namespace

class Writer::State
{
public:
    std::filesystem::path path;
    std::filesystem::path part;
    trace::RunHeader header;
    WriterOptions options;
    RecordStreams streams;
    GatheredRows rows;
    std::unique_ptr<PartFile> file;
    std::vector<std::size_t> rowPlaces; ///< places of the row tables in the file's table list
    std::uint64_t rowsWritten = 0;
    std::uint64_t rowsCommitted = 0;
    std::uint64_t sampleCount = 0;
    Clock::time_point lastFlush;
    std::optional<Error> error;
    bool finished = false;

    State(std::filesystem::path target, const trace::RunHeader& runHeader,
          const WriterOptions& writerOptions)
        : path(std::move(target))
        , part(partialPathOf(path))
        , header(runHeader)
        , options(writerOptions)
        , rows(header)
    {}

    Result<void> open();
    Result<void> flush();
    Result<void> writeStream(std::size_t table);
    Result<void> writeRows();
    Result<void> makeRoomForRows(std::uint64_t count);
    Result<void> commit(std::uint64_t fileBytes);
    Result<void> close();

    /// Runs `work` unless an earlier error stands; keeps the error it ends with.
    template <class Work>
    Result<void> guarded(Work&& work)
    {
        if (!error && finished)
            return Error{Errc::Invalid, "the run is finished", path.string(), {}};
        if (!error) {
            try {
                if (Result<void> done = work(); !done)
                    error = done.error();
            } catch (const std::exception& exception) {
                error = failed(exception, part);
            }
        }
        if (error)
            return *error;
        return {};
    }
    Result<void> flushWhenDue();
};

Result<void> Writer::State::open()
{
    if (auto prepared = prepareTarget(path, part); !prepared)
        return prepared;
    std::vector<TableSpec> rowSpecs = rowTables(header);
    const std::uint64_t rowsChunk = rowsPerChunk(rowSpecs, options);
    streams.addHeader(header, rowsChunk);
    std::vector<SkeletonTable> tables;
    for (const TableSpec& spec : streams.tables())
        tables.push_back(
            {spec, chunkRecords(spec.number, streams, options, rowsChunk, rowSpecs.size())});
    rowPlaces.push_back(Rows);
    for (TableSpec& spec : rowSpecs) {
        if (spec.number == Rows)
            continue;
        rowPlaces.push_back(tables.size());
        tables.push_back({std::move(spec), rowsChunk});
    }
    auto created = PartFile::create(part, std::move(tables));
    if (!created)
        return created.error();
    file = std::move(*created);
    for (std::size_t table = 0; table < Rows; ++table)
        if (auto written = writeStream(table); !written)
            return written;
    if (auto made = makeRoomForRows(1); !made)
        return made;
    if (auto started = file->startSwmr(); !started)
        return started;
    lastFlush = Clock::now();
    return commit(0);
}

Result<void> Writer::State::writeStream(std::size_t table)
{
    RecordStreams::Stream& stream = streams.stream(table);
    if (stream.gathered.empty())
        return {};
    const std::uint64_t perChunk = file->chunkRecords(table);
    const std::uint64_t chunks = divideUp(stream.total.count, perChunk);
    if (auto made = file->makeRoom({&table, 1}, chunks, chunks * perChunk); !made)
        return made;
    const Piece piece{stream.gathered.data(), stream.gathered.size()};
    if (auto written = file->write(table, stream.written, {&piece, 1}); !written)
        return written;
    stream.written = stream.total.count;
    stream.gathered.clear();
    return {};
}

Result<void> Writer::State::makeRoomForRows(std::uint64_t count)
{
    const std::uint64_t perChunk = file->chunkRecords(Rows);
    const std::uint64_t have = file->chunksOf(Rows);
    const std::uint64_t need = divideUp(count, perChunk);
    if (need <= have)
        return {};
    // HDF5's part of making room, above all the flush of its metadata (some 50 µs a dataset), is
    // done for several chunks at once: half of what there is again, at first what is expected up to
    // `firstRoom`. What stays unused is cut off at the end.
    std::uint64_t chunks = std::max(need, have + have / 2);
    if (options.expectedRows > 0) {
        const std::uint64_t expected = divideUp(options.expectedRows, perChunk);
        if (have == 0)
            chunks = std::max(chunks, std::min(expected, firstRoom / (rows.rowBytes() * perChunk)));
        chunks = std::max(need, std::min(chunks, expected));
    }
    std::uint64_t length = chunks * perChunk;
    if (count <= options.expectedRows)
        length = std::min(length, options.expectedRows);
    return file->makeRoom(rowPlaces, chunks, length);
}

Result<void> Writer::State::writeRows()
{
    if (rows.count() == 0)
        return {};
    const std::uint64_t end = rowsWritten + rows.count();
    if (auto made = makeRoomForRows(end); !made)
        return made;
    std::vector<Piece> pieces;
    for (const std::size_t place : rowPlaces) {
        rows.pieces(file->spec(place), pieces);
        if (auto written = file->write(place, rowsWritten, pieces); !written)
            return written;
    }
    rowsWritten = end;
    rows.clear();
    return {};
}

Result<void> Writer::State::commit(std::uint64_t fileBytes)
{
    CommitRecord record{};
    record.state = fileBytes > 0 ? 1 : 0;
    record.expectedRows = options.expectedRows;
    record.expectedExact = options.expectedRowsExact ? 1 : 0;
    record.fileBytes = fileBytes;
    for (std::size_t table = 0; table < Rows; ++table)
        record.tables[table] = streams.stream(table).total;
    record.tables[Rows] = {rowsWritten, rows.digest()};
    if (auto committed = file->commit(record); !committed)
        return committed;
    rowsCommitted = rowsWritten;
    return {};
}

Result<void> Writer::State::flush()
{
    if (rows.count() > 0 || streams.gatheredBytes() > 0) {
        for (std::size_t table = 0; table < Rows; ++table)
            if (auto written = writeStream(table); !written)
                return written;
        if (auto written = writeRows(); !written)
            return written;
        if (auto committed = commit(0); !committed)
            return committed;
    }
    lastFlush = Clock::now();
    return {};
}

Result<void> Writer::State::flushWhenDue()
{
    const bool due = rows.bytes() + streams.gatheredBytes() >= options.flushBytes
                     || Clock::now() - lastFlush >= options.flushInterval;
    return due ? flush() : Result<void>();
}

Result<void> Writer::State::close()
{
    std::vector<std::uint64_t> lengths(file->tableCount(), rowsWritten);
    for (std::size_t table = 0; table < Rows; ++table)
        lengths[table] = streams.stream(table).total.count;
    if (auto closed = file->closeAt(std::move(lengths)); !closed)
        return closed;
    const auto size = file->size();
    if (!size)
        return size.error();
    if (auto committed = commit(*size); !committed)
        return committed;
    return putInPlace(part, path);
}

Writer::Writer(std::unique_ptr<State> state)
    : m_state(std::move(state))
{}

Writer::~Writer()
{
    if (!m_state->finished)
        static_cast<void>(flush());
}

Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& path,
                                               const trace::RunHeader& header,
                                               const WriterOptions& options)
{
    try {
        if (auto checked = checkHeader(header); !checked)
            return checked.error();
        auto state = std::make_unique<State>(path, header, options);
        if (auto opened = state->open(); !opened)
            return opened.error();
        return std::unique_ptr<Writer>(new Writer(std::move(state)));
    } catch (const std::exception& exception) {
        return failed(exception, path);
    }
}

Result<trace::SampleIndex> Writer::beginSample(const trace::Sample& sample,
                                               const std::vector<trace::Token>& promptTokens)
{
    const auto index = static_cast<trace::SampleIndex>(m_state->sampleCount);
    auto begun = m_state->guarded([&]() -> Result<void> {
        m_state->streams.addSample(sample);
        // A sample may come with its ending, as when a run is copied.
        if (!sample.stopReason.empty() || !sample.prediction.empty())
            m_state->streams.addEnding(index, sample.stopReason, sample.prediction);
        m_state->streams.addTokens(index, promptTokens);
        ++m_state->sampleCount;
        return {};
    });
    if (!begun)
        return begun.error();
    return index;
}

Result<void> Writer::addTokens(trace::SampleIndex sample, const std::vector<trace::Token>& tokens)
{
    if (indexOf(sample) >= m_state->sampleCount)
        return Error{Errc::Invalid, "no such sample", m_state->path.string(), {}};
    return m_state->guarded([&]() -> Result<void> {
        m_state->streams.addTokens(sample, tokens);
        return {};
    });
}

Result<void> Writer::append(trace::RowBlock block)
{
    return append(std::make_shared<const trace::RowBlock>(std::move(block)));
}

Result<void> Writer::append(std::shared_ptr<const trace::RowBlock> block)
{
    if (auto checked = checkBlock(m_state->header, *block); !checked)
        return checked.error();
    for (const trace::Row& row : block->rows)
        if (indexOf(row.sample) >= m_state->sampleCount)
            return Error{Errc::Invalid,
                         "a row names a sample that was not begun",
                         m_state->path.string(),
                         {}};
    return m_state->guarded([&]() -> Result<void> {
        m_state->rows.add(std::move(block));
        return m_state->flushWhenDue();
    });
}

Result<void> Writer::addEvent(const trace::Event& event)
{
    return m_state->guarded([&]() -> Result<void> {
        m_state->streams.addEvent(event);
        return {};
    });
}

Result<void> Writer::endSample(trace::SampleIndex sample, const std::string& stopReason,
                               const std::string& prediction)
{
    if (indexOf(sample) >= m_state->sampleCount)
        return Error{Errc::Invalid, "no such sample", m_state->path.string(), {}};
    return m_state->guarded([&]() -> Result<void> {
        m_state->streams.addEnding(sample, stopReason, prediction);
        return {};
    });
}

Result<void> Writer::flush()
{
    return m_state->guarded([&] { return m_state->flush(); });
}

Result<void> Writer::finish(const trace::Environment& closing)
{
    return m_state->guarded([&]() -> Result<void> {
        m_state->streams.addEnvironment(closing);
        if (auto flushed = m_state->flush(); !flushed)
            return flushed;
        if (auto closed = m_state->close(); !closed)
            return closed;
        m_state->finished = true;
        return {};
    });
}

std::uint64_t Writer::committedRows() const
{
    return m_state->rowsCommitted;
}

std::filesystem::path Writer::partialPath() const
{
    return m_state->part;
}

std::filesystem::path partialPathOf(const std::filesystem::path& path)
{
    std::filesystem::path part = path;
    part += ".part";
    return part;
}

} // namespace moire::store
