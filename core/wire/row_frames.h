// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/row_block.h"
#include "core/trace/run.h"
#include "core/wire/run_messages.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The frames of a `rows` message, as one list for writing and reading (PROTOCOL.md, 4).
namespace moire::wire {

/// A row in the frame `rows`.
inline constexpr std::size_t rowRecordBytes = 48;

/// One frame: what it holds and how many bytes a row of it takes.
struct RowFrame
{
    std::string_view kind;
    std::uint32_t index = 0;
    std::uint64_t rowBytes = 0;
};

/// In the order of a message. `values` frames only of the taps chosen, and only at level full.
std::vector<RowFrame> rowFramesOf(const trace::RunHeader& header, const ValueChoice& values);

/// Where the block holds a frame other than `rows`.
std::span<const std::byte> bytesOf(const trace::RowBlock& block, const RowFrame& frame);
/// Puts the bytes of a frame other than `rows` there. `bytes` has a multiple of rowBytes.
void setBytes(trace::RowBlock& block, const RowFrame& frame, std::span<const std::byte> bytes);

void writeRecord(const trace::Row& row, std::span<std::byte, rowRecordBytes> to);
/// Errors: Damaged (a phase or construction of no meaning).
Result<trace::Row> readRecord(std::span<const std::byte, rowRecordBytes> from);

} // namespace moire::wire
