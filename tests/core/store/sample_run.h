// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run_builder.h"

#include <cstdint>

namespace moire::store::test {

/// A run with a tap of every dtype, two routers (one with scores), top-K and asked ids.
trace::RunHeader sampleHeader(trace::Level level);

/// `rows` rows of random bits for sample `sample`, positions from `first` on; the same for the same
/// seed. Every block with values has NaN, infinities, subnormals and both zeros among them.
trace::RowBlock randomBlock(const trace::RunHeader& header, trace::SampleIndex sample,
                            std::uint32_t first, std::uint32_t rows, std::uint64_t seed);

/// Three samples with awkward texts, `rows` rows each in blocks of different sizes, two events, all
/// finished but for finish() itself.
Result<void> record(trace::RunSink& sink, const trace::RunHeader& header, std::uint32_t rows);

/// The fields that come with finish().
trace::Environment closingFields();

} // namespace moire::store::test
