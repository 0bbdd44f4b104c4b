// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/row_frames.h"

#include "core/wire/protocol.h"

#include <bit>
#include <cstring>

namespace moire::wire {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian, and so are "
                                                          "all machines that this is built for");
static_assert(sizeof(trace::Counts) == 3 * sizeof(std::uint32_t));
static_assert(sizeof(trace::Statistics) == 4 * sizeof(float));

namespace {

/// Calls `visit(vector)` with the block's own vector of a frame.
template <class Block, class Visit>
void withVector(Block& block, const RowFrame& frame, Visit&& visit)
{
    const std::string_view kind = frame.kind;
    if (kind == frame::values)
        return visit(block.values[frame.index]);
    if (kind == frame::digests)
        return visit(block.digests);
    if (kind == frame::counts)
        return visit(block.counts);
    if (kind == frame::statistics)
        return visit(block.statistics);
    if (kind == frame::topIds)
        return visit(block.topK.ids);
    if (kind == frame::topValues)
        return visit(block.topK.values);
    if (kind == frame::topLogSumExp)
        return visit(block.topK.logSumExp);
    if (kind == frame::topMass)
        return visit(block.topK.remainingMass);
    if (kind == frame::askedIds)
        return visit(block.topK.askedIds);
    if (kind == frame::askedValues)
        return visit(block.topK.askedValues);
    if (kind == frame::routeIds)
        return visit(block.routing[frame.index].ids);
    if (kind == frame::routeWeights)
        return visit(block.routing[frame.index].weights);
    if (kind == frame::routeLogits)
        return visit(block.routing[frame.index].logits);
    visit(block.routing[frame.index].scores);
}

/// Reads or writes fields one behind the other.
class Record
{
public:
    template <class Field>
    void put(std::span<std::byte, rowRecordBytes> to, Field field)
    {
        std::memcpy(to.data() + m_at, &field, sizeof field);
        m_at += sizeof field;
    }
    template <class Field>
    Field get(std::span<const std::byte, rowRecordBytes> from)
    {
        Field field{};
        std::memcpy(&field, from.data() + m_at, sizeof field);
        m_at += sizeof field;
        return field;
    }

private:
    std::size_t m_at = 0;
};

} // namespace

std::vector<RowFrame> rowFramesOf(const trace::RunHeader& header, const ValueChoice& values)
{
    const std::uint64_t taps = header.taps.size();
    std::vector<RowFrame> frames{{frame::rows, 0, rowRecordBytes},
                                 {frame::digests, 0, taps * sizeof(std::uint64_t)},
                                 {frame::counts, 0, taps * sizeof(trace::Counts)}};
    if (header.level != trace::Level::Digest)
        frames.push_back({frame::statistics, 0, taps * sizeof(trace::Statistics)});
    if (const trace::LogitsInfo& logits = header.logits; logits.vocabulary > 0) {
        const std::uint64_t top = logits.topK;
        const std::uint64_t asked = logits.asked;
        frames.push_back({frame::topIds, 0, top * sizeof(std::int32_t)});
        frames.push_back({frame::topValues, 0, top * sizeof(float)});
        frames.push_back({frame::topLogSumExp, 0, sizeof(double)});
        frames.push_back({frame::topMass, 0, sizeof(double)});
        frames.push_back({frame::askedIds, 0, asked * sizeof(std::int32_t)});
        frames.push_back({frame::askedValues, 0, asked * sizeof(float)});
    }
    for (std::uint32_t i = 0; i < header.routers.size(); ++i) {
        const trace::RouterLayer& layer = header.routers[i];
        const std::uint64_t chosen = layer.chosen;
        const std::uint64_t experts = layer.experts;
        frames.push_back({frame::routeIds, i, chosen * sizeof(std::int32_t)});
        frames.push_back({frame::routeWeights, i, chosen * numeric::sizeOf(layer.weightType)});
        frames.push_back({frame::routeLogits, i, experts * numeric::sizeOf(layer.logitType)});
        if (layer.hasScores)
            frames.push_back({frame::routeScores, i, experts * sizeof(float)});
    }
    if (header.level != trace::Level::Full)
        return frames;
    for (std::uint32_t t = 0; values.all && t < taps; ++t)
        frames.push_back({frame::values, t, header.taps[t].rowBytes()});
    for (std::size_t i = 0; !values.all && i < values.taps.size(); ++i)
        frames.push_back({frame::values, values.taps[i], header.taps[values.taps[i]].rowBytes()});
    return frames;
}

std::span<const std::byte> bytesOf(const trace::RowBlock& block, const RowFrame& frame)
{
    std::span<const std::byte> bytes;
    withVector(block, frame, [&](const auto& held) { bytes = std::as_bytes(std::span(held)); });
    return bytes;
}

void setBytes(trace::RowBlock& block, const RowFrame& frame, std::span<const std::byte> bytes)
{
    withVector(block, frame, [&](auto& held) {
        held.resize(bytes.size() / sizeof held[0]);
        if (!bytes.empty())
            std::memcpy(held.data(), bytes.data(), bytes.size());
    });
}

void writeRecord(const trace::Row& row, std::span<std::byte, rowRecordBytes> to)
{
    Record record;
    record.put(to, static_cast<std::uint32_t>(indexOf(row.sample)));
    record.put(to, row.position);
    record.put(to, row.step);
    record.put(to, row.batchSlot);
    record.put(to, static_cast<std::uint8_t>(row.phase));
    record.put(to, static_cast<std::uint8_t>(row.construction));
    record.put(to, std::uint16_t{0});
    record.put(to, row.score.id);
    record.put(to, row.score.logit);
    record.put(to, row.score.rank);
    record.put(to, row.rollUp);
    record.put(to, row.score.logProb);
}

Result<trace::Row> readRecord(std::span<const std::byte, rowRecordBytes> from)
{
    Record record;
    trace::Row row;
    row.sample = trace::SampleIndex{record.get<std::uint32_t>(from)};
    row.position = record.get<std::uint32_t>(from);
    row.step = record.get<std::uint32_t>(from);
    row.batchSlot = record.get<std::uint32_t>(from);
    const auto phase = trace::phaseFromNumber(record.get<std::uint8_t>(from));
    const auto construction = trace::constructionFromNumber(record.get<std::uint8_t>(from));
    record.get<std::uint16_t>(from);
    row.score.id = record.get<std::int32_t>(from);
    row.score.logit = record.get<float>(from);
    row.score.rank = record.get<std::int32_t>(from);
    row.rollUp = record.get<std::uint64_t>(from);
    row.score.logProb = record.get<double>(from);
    if (!phase || !construction)
        return Error{Errc::Damaged, "a row has a phase or construction of no meaning", {}, {}};
    row.phase = *phase;
    row.construction = *construction;
    return row;
}

} // namespace moire::wire
