// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/store/capture_file.h"
#include "core/trace/run.h"

#include <vector>

namespace moire::store {

/// What tables 0 … 10 say, every number checked.
struct RunTables
{
    trace::RunHeader header;
    std::uint64_t rowsPerChunk = 0;
    std::vector<trace::Sample> samples;
    std::vector<std::vector<trace::Token>> tokens; ///< by sample
    std::vector<trace::Event> events;
};

/// Errors: Damaged (with the table), Unsupported.
Result<RunTables> readRunTables(CaptureFile& file);

} // namespace moire::store
