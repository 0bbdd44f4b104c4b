// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/file.h"
#include "core/numeric/element_pair.h"
#include "core/numeric/simd_target.h"
#include "tests/bench/figure.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

// compareElements over two mapped files in the page cache, against a plain loop that reads the same
// bytes and sums their XOR, both on one thread. Prints bytes of both sides per second.

namespace {

using moire::numeric::DType;

constexpr std::size_t width = 4096;
constexpr std::size_t bytesASide = std::size_t{128} << 20U;
constexpr int repeats = 5;

/// Normal values, and the same with a relative disturbance of 1 %.
std::vector<float> values(std::size_t count, bool disturbed)
{
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    std::mt19937 disturbance(2);
    std::vector<float> result(std::size_t{1} << 16U);
    for (float& value : result) {
        value = normal(generator);
        if (disturbed)
            value *= 1.0F + 0.01F * normal(disturbance);
    }
    result.resize(std::min(count, result.size()));
    return result;
}

bool writeSide(const std::filesystem::path& path, DType dtype, bool disturbed)
{
    const auto floats = values(bytesASide, disturbed);
    std::vector<std::byte> block(floats.size() * moire::numeric::sizeOf(dtype));
    for (std::size_t i = 0; i < floats.size(); ++i) {
        const std::uint16_t bits = moire::numeric::bf16FromFloat(floats[i]);
        if (dtype == DType::BF16)
            std::memcpy(block.data() + i * sizeof bits, &bits, sizeof bits);
        else
            std::memcpy(block.data() + i * sizeof(float), &floats[i], sizeof(float));
    }
    std::ofstream file(path, std::ios::binary);
    for (std::size_t done = 0; done < bytesASide; done += block.size())
        file.write(reinterpret_cast<const char*>(block.data()),
                   static_cast<std::streamsize>(block.size()));
    return file.good();
}

std::uint64_t xorSum(const std::byte* a, const std::byte* b, std::size_t size)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
        std::uint64_t x;
        std::uint64_t y;
        std::memcpy(&x, a + i, sizeof x);
        std::memcpy(&y, b + i, sizeof y);
        sum += x ^ y;
    }
    return sum;
}

double compareRows(const std::byte* a, const std::byte* b, DType dtype, std::size_t size)
{
    const std::size_t rowBytes = width * moire::numeric::sizeOf(dtype);
    double sum = 0;
    for (std::size_t row = 0; row < size; row += rowBytes)
        sum += moire::numeric::compareElements(a + row, dtype, b + row, dtype, width).sumAbs;
    return sum;
}

int measure(const std::filesystem::path& folder, DType dtype, double goal)
{
    const auto referencePath = folder / "reference";
    const auto targetPath = folder / "target";
    if (!writeSide(referencePath, dtype, false) || !writeSide(targetPath, dtype, true)) {
        std::fprintf(stderr, "bench_compare: cannot write %s\n", folder.c_str());
        return 2;
    }
    const auto reference = moire::base::MappedFile::open(referencePath);
    const auto target = moire::base::MappedFile::open(targetPath);
    if (!reference || !target)
        return 2;
    const std::byte* a = reference->bytes().data();
    const std::byte* b = target->bytes().data();
    double ours = 1e9;
    double plain = 1e9;
    double kept = 0; // keeps the loops from being left out
    for (int i = 0; i < repeats; ++i) {
        plain = std::min(plain, moire::bench::secondsOf([&] {
                             kept += static_cast<double>(xorSum(a, b, bytesASide));
                         }));
        ours = std::min(
            ours, moire::bench::secondsOf([&] { kept += compareRows(a, b, dtype, bytesASide); }));
    }
    constexpr double giga = 1e9;
    const double bytes = 2.0 * static_cast<double>(bytesASide) / giga;
    const std::string name = "element measures, " + std::string(moire::numeric::nameOf(dtype))
                             + ", 1 thread, " + moire::numeric::currentSimdTarget()
                             + ", against an XOR sum of the same bytes";
    moire::bench::printFigure(name, "GB/s", bytes / ours, bytes / plain, plain / ours, goal,
                              moire::bench::Sense::Min);
    return kept == 0 ? 2 : 0;
}

} // namespace

int main()
{
    constexpr double goal = 0.3;
    std::string pattern = (std::filesystem::temp_directory_path() / "moire-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
        std::fprintf(stderr, "bench_compare: cannot make a folder in %s\n", pattern.c_str());
        return 2;
    }
    const std::filesystem::path folder = pattern;
    int status = 0;
    for (const DType dtype : {DType::BF16, DType::FP32})
        status = std::max(status, measure(folder, dtype, goal));
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return status;
}
