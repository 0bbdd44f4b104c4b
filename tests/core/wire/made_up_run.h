// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/row_block.h"
#include "core/trace/run.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/// A small run with something of everything that travels: three taps, a router with selection
/// scores, top-K and asked ids, texts that are not UTF-8.
namespace moire::madeup {

trace::RunHeader header(trace::Level level = trace::Level::Full);
trace::Sample sample(std::uint32_t number);
std::vector<trace::Token> tokens(std::uint32_t count, std::uint32_t first, bool response);
/// Rows of `sample`, positions from `position` on; values, digests and tables of their own.
trace::RowBlock block(const trace::RunHeader& header, trace::SampleIndex sample,
                      std::uint32_t position, std::uint32_t count);

} // namespace moire::madeup
