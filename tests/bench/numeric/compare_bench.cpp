// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/element_pair.h"
#include "core/numeric/simd_target.h"
#include "core/store/mapped_run.h"
#include "core/store/writer.h"
#include "tests/bench/figure.h"
#include "tests/bench/numeric/bench_files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

/// All element-wise measures of a tap pair over two captures in the page cache, on one and two
/// threads, against a plain loop that reads the same bytes and sums their XOR, and against h5py and
/// NumPy. Prints bytes of both sides per second.
namespace {

using namespace moire;
using numeric::DType;

constexpr std::uint32_t width = 4096;
constexpr std::size_t bytesASide = std::size_t{64} << 20U;
constexpr std::uint32_t blockRows = 256;
constexpr int repeats = 7;

void require(const Result<void>& result)
{
    if (result)
        return;
    std::fprintf(stderr, "bench_compare: %s\n", result.error().text().c_str());
    std::exit(2);
}

/// The digests, counts and statistics need not be right here.
void writeCapture(const std::filesystem::path& path, DType dtype, float noise)
{
    trace::RunHeader header;
    trace::Tap tap;
    tap.name = "tap";
    tap.dtype = dtype;
    tap.width = width;
    header.taps.push_back(tap);
    const auto rows = static_cast<std::uint32_t>(bytesASide / tap.rowBytes());
    auto writer = store::Writer::create(path, header, {rows, true});
    if (!writer)
        require(writer.error());
    if (!(*writer)->beginSample({}, {}))
        require(Error{Errc::Internal, "no sample", {}, {}});
    const auto values =
        bench::packed(bench::deviates(std::size_t{blockRows} * width, 1, noise), dtype);
    for (std::uint32_t first = 0; first < rows; first += blockRows) {
        trace::RowBlock block;
        for (std::uint32_t r = 0; r < blockRows; ++r) {
            block.rows.emplace_back();
            block.rows.back().position = first + r;
        }
        block.values.push_back(values);
        block.digests.resize(blockRows);
        block.counts.resize(blockRows);
        block.statistics.resize(blockRows);
        require((*writer)->append(std::move(block)));
    }
    require((*writer)->finish({}));
}

/// Calls piece(reference, target, bytes) for consecutive rows of both runs, [begin, end) of them.
template <class Piece>
void overPieces(const trace::Run& reference, const trace::Run& target, trace::RowIndex begin,
                trace::RowIndex end, Piece piece)
{
    while (begin < end) {
        const auto a = reference.values({}, begin, end);
        const auto b = target.values({}, begin, end);
        if (!a || !b)
            std::exit(2);
        const trace::RowIndex until = std::min(a->rowEnd, b->rowEnd);
        piece(a->row(begin), b->row(begin), (until - begin) * a->stride);
        begin = until;
    }
}

/// Seconds of `piece` over all rows on some threads; of one thread seconds of processor.
template <class Piece>
double secondsOn(unsigned threads, const trace::Run& reference, const trace::Run& target,
                 Piece piece)
{
    if (threads == 1)
        return bench::processorSecondsOf(
            [&] { overPieces(reference, target, 0, reference.rowCount(), piece); });
    return bench::secondsOf([&] {
        std::vector<std::jthread> others;
        const trace::RowIndex rows = reference.rowCount();
        for (unsigned i = 1; i < threads; ++i)
            others.emplace_back([&, i] {
                overPieces(reference, target, rows * i / threads, rows * (i + 1) / threads, piece);
            });
        overPieces(reference, target, 0, rows / threads, piece);
    });
}

void measure(const std::filesystem::path& folder, DType dtype)
{
    constexpr double share = 0.45;
    constexpr double fold = 6;
    const auto ours = folder / "reference.moire";
    const auto theirs = folder / "target.moire";
    writeCapture(ours, dtype, 0);
    writeCapture(theirs, dtype, 0.01F);
    const auto reference = store::MappedRun::open(ours);
    const auto target = store::MappedRun::open(theirs);
    if (!reference || !target)
        std::exit(2);
    const std::size_t rowBytes = width * numeric::sizeOf(dtype);
    const auto compare = [&](const std::byte* a, const std::byte* b, std::size_t size) {
        double kept = 0;
        for (std::size_t row = 0; row < size; row += rowBytes)
            kept += numeric::compareElements(a + row, dtype, b + row, dtype, width).sumAbs;
        if (kept < 0)
            std::exit(2); // never; keeps the loop from being left out
    };
    const auto plainly = [](const std::byte* a, const std::byte* b, std::size_t size) {
        if (bench::xorSum(a, b, size) == 1)
            std::puts("");
    };
    constexpr double giga = 1e9;
    const double bytes = 2.0 * static_cast<double>(bytesASide) / giga;
    const std::string name = std::string(numeric::nameOf(dtype)) + ", ";
    double alone = 0;
    for (const unsigned threads : {1U, 2U}) {
        double compared = 1e9;
        double plain = 1e9;
        for (int i = 0; i < repeats; ++i) {
            plain = std::min(plain, secondsOn(threads, **reference, **target, plainly));
            compared = std::min(compared, secondsOn(threads, **reference, **target, compare));
        }
        alone = threads == 1 ? compared : alone;
        bench::printFigure("element measures, " + name + std::to_string(threads) + " thread"
                               + (threads > 1 ? "s, " : ", ") + numeric::currentSimdTarget()
                               + ", against an XOR sum of the same bytes",
                           "GB/s", bytes / compared, bytes / plain, plain / compared, share,
                           bench::Sense::Min);
    }
    if (const auto numpy =
            bench::numpySeconds("elements " + ours.string() + ' ' + theirs.string() + " tap"))
        bench::printFigure("the same on 1 thread, against h5py and NumPy, " + name
                               + "bits equal, max abs, relative L2 in float64",
                           "GB/s", bytes / alone, bytes / *numpy, *numpy / alone, fold,
                           bench::Sense::Min);
}

} // namespace

int main()
{
    const bench::BenchFolder folder;
    for (const DType dtype : {DType::BF16, DType::FP32})
        measure(folder.path(), dtype);
    return 0;
}
