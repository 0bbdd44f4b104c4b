// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run_builder.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace moire::diff::test {

/// A run as plain lists, to be changed by a test before it is built through the RunBuilder, which
/// makes digests, counts, statistics and top-K tables from the values.
struct PlainRun
{
    struct Routing
    {
        std::vector<std::int32_t> ids;
        std::vector<float> weights;
        std::vector<float> logits;
    };
    struct Row
    {
        std::size_t sample = 0;
        std::uint32_t position = 0;
        trace::Phase phase = trace::Phase::Prefill;
        trace::Construction construction = trace::Construction::Once;
        std::vector<std::vector<double>> values; ///< one list a tap
        std::vector<Routing> routing;            ///< one a router
    };

    trace::RunHeader header;
    std::vector<trace::Sample> samples;
    std::vector<std::vector<trace::Token>> tokens;
    std::vector<Row> rows;
    std::vector<std::int32_t> asked; ///< ids whose logits are recorded of every row
    bool complete = true;

    std::size_t tapAt(std::string_view name) const;
    Row& rowAt(std::size_t sample, std::uint32_t position);
    trace::RunPointer build(const std::string& source = "run") const;
    /// Everything into a sink, also finish() where the run is complete; fails the process where
    /// that is an error.
    void writeInto(trace::RunSink& sink) const;
};

/// Values as elements of a dtype (bf16, fp16, fp32), rounded to nearest even.
std::vector<std::byte> packed(const std::vector<double>& values, numeric::DType dtype);

/// Reads the little language below; fails the process (qFatal) on a line that it does not know.
///   level full | env KEY VALUE
///   tap NAME KIND LAYER DTYPE WIDTH [in NAME…] [complete] [earlier] [slots K]
///   router MODULE LAYER EXPERTS CHOSEN
///   logits VOCABULARY K [asked IDS…]
///   sample ID [CATEGORY] : PROMPT IDS | RESPONSE IDS        (ID#2: repeat 2 of ID)
///   row POSITION [prefill|decode|forced] : VALUES ; VALUES … [@ IDS : WEIGHTS : LOGITS …]
/// Rows belong to the sample above them.
PlainRun textRun(std::string_view text);

/// A small model of two layers with attention and routed experts, `samples` samples of `rows` rows;
/// every value is drawn from a generator seeded with `seed`, the same on every machine.
PlainRun randomRun(std::uint64_t seed, std::size_t samples, std::uint32_t rows,
                   numeric::DType dtype = numeric::DType::BF16);

} // namespace moire::diff::test
