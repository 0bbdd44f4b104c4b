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
    std::string name;
    numeric::DType dtype = numeric::DType::FP32;
    std::uint64_t rows = 0;
    std::uint32_t width = 0; ///< 0: a list of `rows` elements, written one by one
    std::string file{};      ///< see nameFiles(); without the ending; in safetensors its key
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

/// `<file>.npy` each: 16-bit and fp8 floats widened exactly to float32, or with `raw` as the
/// unsigned integers of their bits.
std::unique_ptr<ArraySink> npySink(std::filesystem::path folder, bool raw);

/// `<file>.csv` each, a line a row: sample, position, then the values in the shortest form that
/// tells values of the dtype apart, with `raw` their bits as "0x…". `labels` are of the rows of
/// arrays, `elements` of the elements of a list; both outlive the sink.
std::unique_ptr<ArraySink> csvSink(std::filesystem::path folder, bool raw,
                                   const std::vector<RowLabel>& labels,
                                   const std::vector<RowLabel>& elements);

/// `capture.safetensors` with all `arrays`, in the order in which they will come, bits as recorded;
/// with `raw` narrow floats as unsigned integers. What the format has no dtype for (the FNUZ kinds
/// of fp8) is U8 always.
std::unique_ptr<ArraySink> safetensorsSink(std::filesystem::path folder, bool raw,
                                           const std::vector<ArrayInfo>& arrays);

/// Gives every array its `file`: its name, or "array-<n>", n counting from 0, where that is another
/// array's already or is not `fit`. Lists come first.
void nameFiles(std::vector<ArrayInfo>& arrays, bool (*fit)(const std::string&));

/// Fit to be a file's name: not empty, hidden or longer than file systems take, without slash and
/// without anything that base::visibleText shows otherwise.
bool fitsAFile(const std::string& name);

/// Fit to be a key of safetensors: UTF-8, and not the format's own "__metadata__".
bool fitsSafetensors(const std::string& name);

} // namespace moire::report
