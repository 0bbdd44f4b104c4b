// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/file.h"
#include "core/numeric/logits_pair.h"
#include "core/numeric/logits_spread.h"
#include "core/numeric/simd_target.h"
#include "core/numeric/top_k.h"
#include "tests/bench/figure.h"
#include "tests/bench/numeric/bench_files.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

/// Full-vocabulary rows of bf16 logits: KL both ways, total variation, the best 64 and margins of
/// both sides, against reading the same bytes and against NumPy; one thread, seconds of processor,
/// files in the page cache.
namespace {

using namespace moire;
using numeric::DType;

constexpr std::size_t vocabulary = 128'256;
constexpr std::size_t rows = 64;
constexpr std::size_t rowBytes = vocabulary * 2;
constexpr std::size_t sideBytes = rows * rowBytes;
constexpr std::size_t listed = 64;
constexpr int repeats = 7;

double essentials(const std::byte* r, const std::byte* t)
{
    numeric::LogitsPeaks peaks;
    const auto sums = numeric::compareLogits(r, DType::BF16, t, DType::BF16, vocabulary,
                                             numeric::LogitsDetail::Divergences, &peaks);
    const auto a = numeric::topK(r, DType::BF16, vocabulary, listed, peaks.reference);
    const auto b = numeric::topK(t, DType::BF16, vocabulary, listed, peaks.target);
    return sums.forwardKl + sums.reverseKl + sums.totalVariation
           + static_cast<double>(a[0].value - a[1].value + b[0].value - b[1].value);
}

double everything(const std::byte* r, const std::byte* t)
{
    const auto sums = numeric::compareLogits(r, DType::BF16, t, DType::BF16, vocabulary);
    const auto spread =
        numeric::spreadOfLogits(r, DType::BF16, t, DType::BF16, vocabulary, sums.meanDifference);
    return sums.temperatureKl + spread.centredSquares
           + static_cast<double>(numeric::topK(r, DType::BF16, vocabulary, listed)[0].value
                                 + numeric::topK(t, DType::BF16, vocabulary, listed)[0].value);
}

template <class Row>
double overRows(const base::MappedFile& a, const base::MappedFile& b, Row row)
{
    double kept = 0;
    for (std::size_t i = 0; i < rows; ++i)
        kept += row(a.bytes().data() + i * rowBytes, b.bytes().data() + i * rowBytes);
    return kept;
}

} // namespace

int main()
{
    const bench::BenchFolder folder;
    const auto ours = folder.path() / "reference";
    const auto theirs = folder.path() / "target";
    constexpr float scale = 3;
    constexpr float noise = 0.02F;
    for (const auto& [path, disturbance] : {std::pair(ours, 0.0F), std::pair(theirs, noise)}) {
        const auto bytes =
            bench::packed(bench::deviates(rows * vocabulary, scale, disturbance), DType::BF16);
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
    const auto reference = base::MappedFile::open(ours);
    const auto target = base::MappedFile::open(theirs);
    if (!reference || !target || reference->bytes().size() != sideBytes)
        return 2;
    double plain = 1e9;
    double some = 1e9;
    double all = 1e9;
    double kept = 0; // keeps the loops from being left out
    for (int i = 0; i < repeats; ++i) {
        plain = std::min(plain, bench::processorSecondsOf([&] {
                             kept += static_cast<double>(bench::xorSum(
                                 reference->bytes().data(), target->bytes().data(), sideBytes));
                         }));
        some = std::min(some, bench::processorSecondsOf(
                                  [&] { kept += overRows(*reference, *target, essentials); }));
        all = std::min(all, bench::processorSecondsOf(
                                [&] { kept += overRows(*reference, *target, everything); }));
    }
    constexpr double giga = 1e9;
    const double bytes = 2.0 * static_cast<double>(sideBytes) / giga;
    const std::string target64 = numeric::currentSimdTarget();
    bench::printFigure("logits rows of 128,256 bf16: KL both ways, TV, top-K, margins, " + target64
                           + ", against an XOR sum of the same bytes",
                       "GB/s", bytes / some, bytes / plain, plain / some, 0.25, bench::Sense::Min);
    bench::printFigure("the same with all distribution measures (families B and C)", "GB/s",
                       bytes / all, bytes / plain, plain / all, 0.05, bench::Sense::Min);
    if (const auto numpy =
            bench::numpySeconds("logits " + ours.string() + ' ' + theirs.string() + ' '
                                + std::to_string(rows) + ' ' + std::to_string(vocabulary)))
        bench::printFigure("the same rows against NumPy", "rows/s", rows / some, rows / *numpy,
                           *numpy / some, 10, bench::Sense::Min);
    return kept == 0 ? 2 : 0;
}
