// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/writer.h"
#include "tests/bench/figure.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

/// Appending rows of a run of SmolLM2-135M's shape (600 taps, bf16, full level) to a tmpfs, against
/// write() of the same bytes from one buffer a row. Both are timed in alternating batches of one
/// process; rows are made outside of the timed parts, making and finishing the files too.
namespace {

using namespace moire;

constexpr std::uint32_t batchRows = 64;
constexpr std::uint32_t batches = 8;

trace::RunHeader smolLm2Shape()
{
    constexpr std::array<std::uint32_t, 20> layerWidths{576, 576, 192, 192,  576,  192,  576,
                                                        576, 576, 576, 1536, 1536, 1536, 1536,
                                                        576, 576, 576, 576,  576,  192};
    trace::RunHeader header;
    for (std::uint32_t i = 0; i < 600; ++i) {
        trace::Tap tap;
        tap.name = "tap." + std::to_string(i);
        tap.dtype = numeric::DType::BF16;
        tap.width = i == 599 ? 49152 : layerWidths[i % layerWidths.size()];
        header.taps.push_back(tap);
    }
    header.logits = {49152, 64, numeric::DType::BF16, 0};
    return header;
}

/// The digests, counts and statistics need not be right: the writer takes them as they come.
trace::RowBlock makeBlock(const trace::RunHeader& header, std::uint32_t first, std::uint32_t rows)
{
    trace::RowBlock block;
    for (std::uint32_t r = 0; r < rows; ++r) {
        trace::Row row;
        row.position = first + r;
        block.rows.push_back(row);
    }
    for (const trace::Tap& tap : header.taps) {
        std::vector<std::byte> values(rows * tap.rowBytes());
        std::memset(values.data(), static_cast<int>(first + tap.width), values.size());
        block.values.push_back(std::move(values));
    }
    const std::size_t cells = rows * header.taps.size();
    block.digests.assign(cells, first);
    block.counts.assign(cells, {first, 0, 0});
    block.statistics.assign(cells, {0, 1, 2, 3});
    block.topK.ids.assign(std::size_t{rows} * header.logits.topK, 1);
    block.topK.values.assign(std::size_t{rows} * header.logits.topK, 1.0F);
    block.topK.logSumExp.assign(rows, 1.0);
    block.topK.remainingMass.assign(rows, 0.0);
    return block;
}

std::size_t bytesOfRow(const trace::RunHeader& header)
{
    std::size_t bytes =
        56 + header.taps.size() * (8 + sizeof(trace::Counts) + sizeof(trace::Statistics))
        + header.logits.topK * 8 + 16;
    for (const trace::Tap& tap : header.taps)
        bytes += tap.rowBytes();
    return bytes;
}

void writeAll(int descriptor, const std::vector<std::byte>& bytes)
{
    if (::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
        std::perror("bench_store: cannot write");
        std::exit(2);
    }
}

void require(const Result<void>& result)
{
    if (result)
        return;
    std::fprintf(stderr, "bench_store: %s\n", result.error().text().c_str());
    std::exit(2);
}

void measure(const std::filesystem::path& folder, std::uint32_t blockRows, const std::string& name)
{
    const trace::RunHeader header = smolLm2Shape();
    const std::size_t rowBytes = bytesOfRow(header);
    const auto path = folder / "append.moire";
    auto writer = store::Writer::create(path, header, {batchRows * batches, false});
    if (!writer)
        require(writer.error());
    if (!(*writer)->beginSample({}, {}))
        require(Error{Errc::Internal, "no sample", {}, {}});
    const int plain = ::open((folder / "plain").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    double ours = 0;
    double other = 0;
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
        std::vector<trace::RowBlock> blocks;
        std::vector<std::vector<std::byte>> rows;
        for (std::uint32_t r = 0; r < batchRows; r += blockRows)
            blocks.push_back(makeBlock(header, batch * batchRows + r, blockRows));
        for (std::uint32_t r = 0; r < batchRows; ++r)
            rows.emplace_back(rowBytes, static_cast<std::byte>(r));
        other += bench::secondsOf([&] {
            for (const auto& row : rows)
                writeAll(plain, row);
        });
        ours += bench::secondsOf([&] {
            for (trace::RowBlock& block : blocks)
                require((*writer)->append(std::move(block)));
        });
    }
    ours += bench::secondsOf([&] { require((*writer)->flush()); });
    ::close(plain);
    require((*writer)->finish({}));
    const double bytes = static_cast<double>(rowBytes) * batchRows * batches / 1e9;
    bench::printFigure(name, "GB/s", bytes / ours, bytes / other, other / ours, 0.5,
                       bench::Sense::Min);
}

} // namespace

int main()
{
    const auto folder =
        std::filesystem::path("/dev/shm") / ("moire-bench-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    measure(folder, 1, "append row, 600 taps, full level");
    measure(folder, 32, "append row, 600 taps, full level, blocks of 32 rows");
    std::filesystem::remove_all(folder);
    return 0;
}
