// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"
#include "core/report/output_file.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace moire::report {

/// An array file of NumPy (format 1.0), C order, little-endian, written row by row.
class NpyFile
{
public:
    /// Leaves to the caller to sweep the folder. `descr` as NumPy spells it: "<f4", "<u2", "<i4",
    /// …; `shape` one or two sizes.
    static Result<NpyFile> create(const std::filesystem::path& path, std::string_view descr,
                                  std::vector<std::uint64_t> shape);
    Result<void> write(std::span<const std::byte> bytes) { return m_file.write(bytes); }
    Result<void> commit() { return m_file.commit(); }

private:
    explicit NpyFile(OutputFile file)
        : m_file(std::move(file))
    {}
    OutputFile m_file;
};

/// How rows of a dtype are exported: 16-bit and fp8 floats widened exactly to float32, or as the
/// unsigned integers of their bits when `raw`; everything else as it is.
struct ArrayForm
{
    std::string_view descr;
    bool widened = false;
};
ArrayForm arrayFormOf(numeric::DType dtype, bool raw);

/// Appends `width` elements of a row in that form to `out`.
void appendRow(std::vector<std::byte>& out, const std::byte* data, numeric::DType dtype,
               std::size_t width, ArrayForm form);

} // namespace moire::report
