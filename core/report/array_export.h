// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/progress.h"
#include "core/trace/run.h"

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace moire::report {

enum class ArrayFormat
{
    Npy,        ///< a file an array, for NumPy
    Csv,        ///< a file an array, a line a row
    Safetensors ///< one file, bits as recorded
};

struct ArrayExportOptions
{
    ArrayFormat format = ArrayFormat::Npy;
    std::vector<std::string> tapPatterns; ///< empty: all
    std::optional<std::string> sample;    ///< id; none: all
    bool raw = false;                     ///< narrow floats as the integers of their bits
};

struct ArrayExportResult
{
    std::uint64_t arrays = 0;
    std::uint64_t rows = 0;
    bool valuesAbsent = false; ///< the run was recorded below level full
};

/// Writes into `folder`, which is made when it is not there, the arrays `<tap>` (rows × width),
/// `<router module>.ids` (int32, rows × k, slot order) and `.weights`, `gen.ids` (int32, response
/// ids, sample after sample), in the forms of core/report/array_sink.h, and `rows.json`. Where an
/// array could not have the name of its tap (nameFiles()), `names.json` says what it is called.
/// Rows are in the order of samples, then positions. A pattern selects a router's arrays by their
/// name or by that of its tap. On an error nothing written by this call is left. Errors: NotFound
/// for an unknown sample, Invalid for a pattern without match, what reading or writing says,
/// Cancelled.
Result<ArrayExportResult> exportArrays(const trace::Run& run, const std::filesystem::path& folder,
                                       const ArrayExportOptions& options, std::stop_token stop,
                                       base::Progress& progress);

} // namespace moire::report
