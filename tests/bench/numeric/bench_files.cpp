// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/numeric/bench_files.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <unistd.h>

namespace moire::bench {

BenchFolder::BenchFolder()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "moire-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
        std::fprintf(stderr, "cannot make a folder in %s\n", pattern.c_str());
        std::exit(2);
    }
    m_path = pattern;
}

BenchFolder::~BenchFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

std::vector<float> deviates(std::size_t count, float scale, float noise)
{
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    std::mt19937 disturbance(2);
    std::normal_distribution<float> disturbing;
    std::vector<float> values(count);
    for (float& value : values)
        value = scale * normal(generator) + noise * disturbing(disturbance);
    return values;
}

std::vector<std::byte> packed(const std::vector<float>& values, numeric::DType dtype)
{
    std::vector<std::byte> bytes(values.size() * numeric::sizeOf(dtype));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t bits = numeric::bf16FromFloat(values[i]);
        if (dtype == numeric::DType::BF16)
            std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
        else
            std::memcpy(bytes.data() + i * sizeof(float), &values[i], sizeof(float));
    }
    return bytes;
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

std::optional<double> pythonSeconds(const std::string& program, const std::string& arguments)
{
    std::FILE* output = ::popen((program + ' ' + arguments + " 2>/dev/null").c_str(), "r");
    if (output == nullptr)
        return std::nullopt;
    double seconds = 0;
    const int read = std::fscanf(output, "%lf", &seconds);
    const int status = ::pclose(output);
    return read == 1 && status == 0 ? std::optional(seconds) : std::nullopt;
}

std::optional<double> numpySeconds(const std::string& arguments)
{
#ifdef MOIRE_BENCH_NUMPY
    return pythonSeconds(MOIRE_BENCH_NUMPY, arguments);
#else
    static_cast<void>(arguments);
    return std::nullopt;
#endif
}

} // namespace moire::bench
