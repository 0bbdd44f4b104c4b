// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/store/sparse_capture.h"

#include "core/numeric/digest.h"
#include "core/store/gathered_rows.h"
#include "core/store/part_file.h"
#include "core/store/record_streams.h"
#include "core/store/target_path.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moire::bench {

namespace {

using namespace moire::store;

constexpr std::uint32_t topK = 64;
constexpr std::uint32_t rowsPerSample = 500;
constexpr std::uint64_t chunks = 400; ///< about what the writer makes of 100 GB
constexpr std::uint16_t one = 0x3F80; ///< bf16

trace::RunHeader headerOf(const SparseShape& shape)
{
    trace::RunHeader header;
    for (std::uint32_t t = 0; t < shape.taps; ++t) {
        trace::Tap tap;
        tap.name = t + 1 == shape.taps ? std::string(trace::headTapName)
                                       : "model.layers." + std::to_string(t / 14) + ".tap."
                                             + std::to_string(t % 14);
        tap.layer = t + 1 == shape.taps ? -1 : static_cast<std::int32_t>(t / 14);
        tap.kind = t + 1 == shape.taps ? trace::TapKind::Head : trace::TapKind::Projection;
        tap.dtype = numeric::DType::BF16;
        tap.width = t + 1 == shape.taps ? shape.vocabulary : shape.width;
        header.taps.push_back(std::move(tap));
    }
    header.logits = {shape.vocabulary, topK, numeric::DType::BF16, 0};
    for (std::uint32_t id = 0; id < shape.vocabulary; ++id)
        header.vocabulary.push_back("word" + std::to_string(id));
    return header;
}

class Maker
{
public:
    Maker(std::filesystem::path path, const SparseShape& shape, bool different)
        : m_path(std::move(path))
        , m_part(m_path.string() + ".part")
        , m_shape(shape)
        , m_different(different)
        , m_header(headerOf(shape))
        , m_rowsPerChunk((shape.rows + chunks - 1) / chunks)
        , m_rows(m_header)
    {
        for (const trace::Tap& tap : m_header.taps) {
            const std::vector<std::byte> zeros(tap.rowBytes());
            m_digests.push_back(numeric::rowDigest(zeros.data(), tap.dtype, tap.width));
        }
    }

    Result<void> make()
    {
        if (auto created = create(); !created)
            return created;
        if (auto written = writeRows(); !written)
            return written;
        std::vector<std::uint64_t> lengths(m_file->tableCount(), m_shape.rows);
        for (std::size_t table = 0; table < Rows; ++table)
            lengths[table] = m_streams.stream(table).total.count;
        if (auto closed = m_file->closeAt(std::move(lengths)); !closed)
            return closed;
        const auto size = m_file->size();
        if (!size)
            return size.error();
        if (auto committed = commit(*size); !committed)
            return committed;
        return putInPlace(m_part, m_path);
    }

private:
    Result<void> create()
    {
        if (auto prepared = prepareTarget(m_path, m_part); !prepared)
            return prepared;
        m_streams.addHeader(m_header, m_rowsPerChunk);
        addSamples();
        std::vector<SkeletonTable> tables;
        for (const TableSpec& spec : m_streams.tables()) {
            const std::uint64_t records =
                spec.number == Index  ? 1U << 14U
                : spec.number == Rows ? m_rowsPerChunk
                : spec.number < Rows
                    ? std::max<std::uint64_t>(1, m_streams.stream(spec.number).total.count)
                    : 2;
            tables.push_back({spec, records});
        }
        m_rowPlaces.push_back(Rows);
        for (TableSpec& spec : rowTables(m_header)) {
            if (spec.number == Rows)
                continue;
            m_rowPlaces.push_back(tables.size());
            tables.push_back({std::move(spec), m_rowsPerChunk});
        }
        auto file = PartFile::create(m_part, std::move(tables));
        if (!file)
            return file.error();
        m_file = std::move(*file);
        for (std::size_t table = 0; table < Rows; ++table)
            if (auto written = writeStream(table); !written)
                return written;
        const std::uint64_t needed = (m_shape.rows + m_rowsPerChunk - 1) / m_rowsPerChunk;
        if (auto made = m_file->makeRoom(m_rowPlaces, needed, m_shape.rows); !made)
            return made;
        if (auto started = m_file->startSwmr(); !started)
            return started;
        return commit(0);
    }

    void addSamples()
    {
        std::uint64_t left = m_shape.rows;
        for (std::uint32_t s = 0; left > 0; ++s) {
            trace::Sample sample;
            sample.id = "sample " + std::to_string(s);
            m_streams.addSample(sample);
            std::vector<trace::Token> tokens;
            for (std::uint64_t i = 0; i < std::min<std::uint64_t>(left, rowsPerSample); ++i)
                tokens.push_back({static_cast<std::int32_t>(i), i > 20, -1, "word"});
            m_streams.addTokens(static_cast<trace::SampleIndex>(s), tokens);
            left -= tokens.size();
        }
    }

    Result<void> writeStream(std::size_t table)
    {
        RecordStreams::Stream& stream = m_streams.stream(table);
        if (stream.gathered.empty())
            return {};
        if (auto made = m_file->makeRoom({&table, 1}, 1, stream.total.count); !made)
            return made;
        const Piece piece{stream.gathered.data(), stream.gathered.size()};
        return m_file->write(table, 0, {&piece, 1});
    }

    trace::RowBlock blockOf(std::uint64_t begin, std::uint64_t end) const
    {
        trace::RowBlock block;
        block.values.resize(m_header.taps.size());
        for (std::uint64_t r = begin; r < end; ++r) {
            trace::Row row;
            row.sample = static_cast<trace::SampleIndex>(r / rowsPerSample);
            row.position = static_cast<std::uint32_t>(r % rowsPerSample);
            block.rows.push_back(row);
            block.digests.insert(block.digests.end(), m_digests.begin(), m_digests.end());
            for (const trace::Tap& tap : m_header.taps)
                block.counts.push_back({tap.width, 0, 0});
            for (std::uint32_t k = 0; k < topK; ++k)
                block.topK.ids.push_back(static_cast<std::int32_t>(k));
        }
        const std::size_t rows = block.rows.size();
        block.statistics.resize(rows * m_header.taps.size());
        block.topK.values.resize(rows * topK);
        block.topK.logSumExp.assign(rows, std::log(static_cast<double>(m_shape.vocabulary)));
        block.topK.remainingMass.assign(
            rows, 1 - static_cast<double>(topK) / static_cast<double>(m_shape.vocabulary));
        if (m_different && end == m_shape.rows) // what element 0 adds
            block.digests[block.digests.size() - 2] +=
                numeric::digestTerm(one, 0) - numeric::digestTerm(0, 0);
        trace::rollUpBlock(m_header, block);
        return block;
    }

    Result<void> writeRows()
    {
        constexpr std::uint64_t batch = 256;
        std::vector<Piece> pieces;
        for (std::uint64_t begin = 0; begin < m_shape.rows; begin += batch) {
            m_rows.add(std::make_shared<const trace::RowBlock>(
                blockOf(begin, std::min(begin + batch, m_shape.rows))));
            for (const std::size_t place : m_rowPlaces) {
                if (m_file->spec(place).number >= tableOfTap(m_header, 0))
                    continue;
                m_rows.pieces(m_file->spec(place), pieces);
                if (auto written = m_file->write(place, begin, pieces); !written)
                    return written;
            }
            m_rows.clear();
        }
        if (!m_different)
            return {};
        std::vector<std::byte> values(std::size_t{2} * m_shape.width);
        values[0] = static_cast<std::byte>(one & 0xFFU);
        values[1] = static_cast<std::byte>(one >> 8U);
        const Piece piece{values.data(), values.size()};
        return m_file->write(m_rowPlaces[m_rowPlaces.size() - 2], m_shape.rows - 1, {&piece, 1});
    }

    Result<void> commit(std::uint64_t fileBytes)
    {
        CommitRecord record{};
        record.state = fileBytes > 0 ? 1 : 0;
        record.expectedRows = m_shape.rows;
        record.expectedExact = 1;
        record.fileBytes = fileBytes;
        for (std::size_t table = 0; table < Rows; ++table)
            record.tables[table] = m_streams.stream(table).total;
        record.tables[Rows] = {fileBytes > 0 ? m_shape.rows : 0,
                               fileBytes > 0 ? m_rows.digest() : 0};
        return m_file->commit(record);
    }

    std::filesystem::path m_path, m_part;
    SparseShape m_shape;
    bool m_different;
    trace::RunHeader m_header;
    std::uint64_t m_rowsPerChunk;
    GatheredRows m_rows;
    RecordStreams m_streams;
    std::unique_ptr<PartFile> m_file;
    std::vector<std::size_t> m_rowPlaces;
    std::vector<std::uint64_t> m_digests; ///< of a row of zeros, by tap
};

} // namespace

Result<void> writeSparseCapture(const std::filesystem::path& path, const SparseShape& shape,
                                bool different)
{
    return Maker(path, shape, different).make();
}

} // namespace moire::bench
