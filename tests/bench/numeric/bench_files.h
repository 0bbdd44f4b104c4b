// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace moire::bench {

/// A folder of its own in the system's place for temporary files, gone with the object.
class BenchFolder
{
public:
    BenchFolder();
    ~BenchFolder();
    BenchFolder(const BenchFolder&) = delete;
    BenchFolder& operator=(const BenchFolder&) = delete;
    const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

/// Normal deviates times `scale`, and the same disturbed by normal deviates of `noise`; the same
/// ones every time.
std::vector<float> deviates(std::size_t count, float scale, float noise);

/// As elements of bf16 or fp32.
std::vector<std::byte> packed(const std::vector<float>& values, numeric::DType dtype);

/// Sum of x XOR y over the 64-bit words of both: what reading alone costs.
std::uint64_t xorSum(const std::byte* a, const std::byte* b, std::size_t size);

/// The seconds that a program prints; nothing when it fails.
std::optional<double> pythonSeconds(const std::string& program, const std::string& arguments);

/// The seconds that numpy_forms.py prints; nothing when there is no Python with NumPy and h5py.
std::optional<double> numpySeconds(const std::string& arguments);

} // namespace moire::bench
