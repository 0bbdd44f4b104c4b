// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/row_block.h"
#include "core/trace/run.h"
#include "core/wire/message.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// The messages of a run (PROTOCOL.md, 4) and the calls of trace::RunSink that they stand for.
namespace moire::wire {

/// What `begin` says besides the header.
struct PlannedRows
{
    std::uint64_t rows = 0; ///< at most; 0 = unknown
    bool exact = false;
};

/// Which message of which run.
struct MessagePlace
{
    std::string run;
    std::uint64_t sequence = 0;
};

/// Taps whose values travel.
struct ValueChoice
{
    bool all = true;
    std::vector<std::uint32_t> taps; ///< ascending, when not all
};

Packed packBegin(const MessagePlace& place, const trace::RunHeader& header, PlannedRows planned);
Packed packSample(const MessagePlace& place, trace::SampleIndex index, const trace::Sample& sample,
                  std::span<const trace::Token> prompt);
Packed packTokens(const MessagePlace& place, trace::SampleIndex sample, std::uint32_t first,
                  std::span<const trace::Token> tokens);
/// Rows [begin, end) of a block as rows first + begin … of the run. Frames lie in the block,
/// nothing is copied but the table of rows.
Packed packRows(const MessagePlace& place, const trace::RunHeader& header,
                std::shared_ptr<const trace::RowBlock> block, std::size_t begin, std::size_t end,
                trace::RowIndex first, const ValueChoice& values);
Packed packEvent(const MessagePlace& place, const trace::Event& event);
Packed packSampleEnd(const MessagePlace& place, trace::SampleIndex sample,
                     const std::string& stopReason, const std::string& prediction);
Packed packFinish(const MessagePlace& place, const trace::Environment& closing);
Packed packBroken(const MessagePlace& place, std::string_view state, const std::string& sentence);

/// Messages [from, to) that cannot be had any more, and the rows in them.
struct Gap
{
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    trace::RowIndex firstRow = 0;
    std::uint64_t rows = 0;
    std::string sentence;
};
Packed packGap(const std::string& run, const Gap& gap);

/// How many rows of `header` fill a message (rowsMessageBytes), at least 1.
std::size_t rowsPerMessage(const trace::RunHeader& header, const ValueChoice& values);

// The same, received.
struct Begin
{
    trace::RunHeader header;
    PlannedRows planned;
};
struct SampleBegin
{
    trace::SampleIndex index{};
    trace::Sample sample;
    std::vector<trace::Token> prompt;
};
struct TokensAdded
{
    trace::SampleIndex sample{};
    std::uint32_t first = 0;
    std::vector<trace::Token> tokens;
};
struct RowsAdded
{
    trace::RowIndex first = 0;
    trace::RowBlock block; ///< values of taps that did not travel are empty
};
struct SampleEnd
{
    trace::SampleIndex sample{};
    std::string stopReason;
    std::string prediction;
};
struct Finish
{
    trace::Environment closing;
};
struct Broken
{
    std::string state;
    std::string sentence;
};
using RunMessage = std::variant<Begin, SampleBegin, TokensAdded, RowsAdded, trace::Event, SampleEnd,
                                Finish, Broken, Gap>;

/// The place of a message, from its header alone.
Result<MessagePlace> placeOf(const Message& message);

/// Reads a run's message. `header`: of the run's `begin`, null for `begin` itself. Sizes of frames
/// are checked against it before anything is taken, and roll-ups against digests. Errors: Damaged
/// names message and field.
Result<RunMessage> readRunMessage(const Message& message, const trace::RunHeader* header);

/// Several messages in one frame, as `replay-from` travels (PROTOCOL.md, 3).
Frame packTogether(std::span<const Packed> messages);
Result<std::vector<Packed>> unpackTogether(const Frame& frame, const MessageLimits& limits);

} // namespace moire::wire
