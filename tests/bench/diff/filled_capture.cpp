// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/diff/filled_capture.h"

#include "core/numeric/digest.h"
#include "core/store/writer.h"
#include "tests/bench/numeric/bench_files.h"

#include <algorithm>
#include <string>
#include <vector>

namespace moire::bench {

namespace {

trace::RunHeader headerOf(const FilledShape& shape)
{
    trace::RunHeader header;
    for (std::uint32_t t = 0; t < shape.taps; ++t) {
        trace::Tap tap;
        tap.name = "model.layers." + std::to_string(t) + ".mlp.out";
        tap.layer = static_cast<std::int32_t>(t);
        tap.kind = trace::TapKind::Projection;
        tap.dtype = numeric::DType::BF16;
        tap.width = shape.width;
        header.taps.push_back(std::move(tap));
    }
    return header;
}

/// The same values in every tap: what a tap holds costs the same everywhere.
trace::RowBlock blockOf(const trace::RunHeader& header, const FilledShape& shape,
                        const std::vector<std::byte>& values, trace::SampleIndex sample,
                        std::uint32_t rows)
{
    trace::RowBlock block;
    const std::size_t rowBytes = std::size_t{shape.width} * 2;
    for (std::uint32_t r = 0; r < rows; ++r) {
        trace::Row row;
        row.sample = sample;
        row.position = r;
        block.rows.push_back(row);
        const std::uint64_t digest =
            numeric::rowDigest(values.data() + r * rowBytes, numeric::DType::BF16, shape.width);
        block.digests.insert(block.digests.end(), shape.taps, digest);
    }
    for (std::uint32_t t = 0; t < shape.taps; ++t)
        block.values.emplace_back(values.begin(),
                                  values.begin() + static_cast<std::ptrdiff_t>(rows * rowBytes));
    const std::size_t sites = std::size_t{rows} * shape.taps;
    block.counts.assign(sites, {shape.width, 0, 0});
    block.statistics.resize(sites);
    trace::rollUpBlock(header, block);
    return block;
}

} // namespace

Result<void> writeFilledCapture(const std::filesystem::path& path, const FilledShape& shape,
                                float noise)
{
    const trace::RunHeader header = headerOf(shape);
    auto writer = store::Writer::create(path, header, {shape.rows, true});
    if (!writer)
        return writer.error();
    const auto values = packed(deviates(std::size_t{shape.rowsPerSample} * shape.width, 1, noise),
                               numeric::DType::BF16);
    for (std::uint64_t done = 0; done < shape.rows; done += shape.rowsPerSample) {
        const auto rows = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(shape.rowsPerSample, shape.rows - done));
        trace::Sample sample;
        sample.id = "sample " + std::to_string(done);
        std::vector<trace::Token> tokens;
        for (std::uint32_t i = 0; i < rows; ++i)
            tokens.push_back({static_cast<std::int32_t>(i), false, -1, "word"});
        const auto begun = (*writer)->beginSample(sample, tokens);
        if (!begun)
            return begun.error();
        if (auto added = (*writer)->append(blockOf(header, shape, values, *begun, rows)); !added)
            return added;
        if (auto ended = (*writer)->endSample(*begun, "length", ""); !ended)
            return ended;
    }
    return (*writer)->finish({});
}

} // namespace moire::bench
