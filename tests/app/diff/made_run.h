// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"
#include "core/trace/row_block.h"
#include "core/trace/run_builder.h"

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

/// Runs of a small imagined model for the tests of moire-diff, from a seed.
namespace moire::test {

struct MadeSample
{
    std::string id;
    std::string category;
    std::vector<std::int32_t> prompt, response;
    std::string label, prediction;
};

struct MadeModel
{
    numeric::DType dtype = numeric::DType::BF16;
    numeric::DType headType = numeric::DType::BF16;
    trace::Level level = trace::Level::Full;
    std::uint32_t layers = 2;
    std::uint32_t width = 24;
    std::uint32_t vocabulary = 160;
    std::uint32_t topK = 64;
    std::uint32_t experts = 0; ///< 0: dense
    std::uint32_t chosen = 2;
    std::string arithmetic = "ordered";
    std::string name = "imagined";
    std::string tokenText;              ///< of every token; empty: "t<id>"
    std::vector<std::string> extraTaps; ///< before the head, of the model's width
    std::string integerTap;             ///< int64, before the head; empty: none
    std::string startTime;              ///< empty: not recorded
    double wallSeconds = 1.5;
    std::int64_t peakBytes = 4096;
};

/// Changes a value on its way into the run; `tap` in execution order, `row` within the run.
using Touch =
    std::function<double(double value, std::size_t tap, std::uint64_t row, std::size_t element)>;

trace::RunHeader headerOf(const MadeModel& model);

/// Writes the run's samples and rows into `sink`, with T + N − 1 rows a sample (T without a
/// response). The untouched values depend on seed, sample, row, tap and element only.
Result<void> makeRun(trace::RunSink& sink, const MadeModel& model,
                     const std::vector<MadeSample>& samples, std::uint64_t seed,
                     const Touch& touch);

/// Bits of a value in a dtype, to nearest even.
std::uint64_t bitsOf(double value, numeric::DType dtype);

} // namespace moire::test
