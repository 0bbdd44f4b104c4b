// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace moire::report {

/// One array of an export: rows × width, row-major.
struct ArrayInfo
{
    std::string name; ///< also of its file, where it has one
    numeric::DType dtype = numeric::DType::FP32;
    std::uint64_t rows = 0;
    std::uint32_t width = 0; ///< 0: a list of `rows` elements, written one by one
};

/// Sample and position of each row, for formats that name them.
struct RowLabel
{
    std::string sample;
    std::uint32_t position = 0;
};

/// Where arrays go, one after the other: begin(), every row, end(); finish() after the last. Files
/// appear whole or not at all; written() names them for whoever has to take them back.
class ArraySink
{
public:
    virtual ~ArraySink() = default;
    virtual Result<void> begin(const ArrayInfo& info) = 0;
    virtual Result<void> row(const std::byte* data) = 0;
    virtual Result<void> end() = 0;
    virtual Result<void> finish() { return {}; }
    const std::vector<std::filesystem::path>& written() const { return m_written; }

protected:
    std::vector<std::filesystem::path> m_written;
};

/// `<name>.npy` each: 16-bit and fp8 floats widened exactly to float32, or with `raw` as the
/// unsigned integers of their bits.
std::unique_ptr<ArraySink> npySink(std::filesystem::path folder, bool raw);

/// `<name>.csv` each, a line a row: sample, position, then the values in the shortest form that
/// tells values of the dtype apart, with `raw` their bits as "0x…". `labels` outlive the sink.
std::unique_ptr<ArraySink> csvSink(std::filesystem::path folder, bool raw,
                                   const std::vector<RowLabel>& labels);

/// `capture.safetensors` with all `arrays`, in the order in which they will come, bits as recorded;
/// with `raw` narrow floats as unsigned integers. What the format has no dtype for (the FNUZ kinds
/// of fp8) is U8 always.
std::unique_ptr<ArraySink> safetensorsSink(std::filesystem::path folder, bool raw,
                                           const std::vector<ArrayInfo>& arrays);

/// folder/name+ending. Names come from the capture: Damaged for one that would leave the folder.
Result<std::filesystem::path> arrayPath(const std::filesystem::path& folder,
                                        const std::string& name, std::string_view ending);

} // namespace moire::report
