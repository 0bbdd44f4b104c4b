// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/trace/run_builder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Pairs of runs made up for tests: shaped as a decoder's, with differences at known places.
namespace moire::test {

struct MadeSample
{
    std::string id;
    std::uint32_t prompt = 8;
    std::uint32_t response = 8;
    std::optional<std::uint32_t> split; ///< the target's tokens differ from here on
    std::uint32_t firstDifference = 0;  ///< position from which values differ
};

struct MadeModel
{
    int layers = 4;
    std::uint32_t width = 16;
    std::uint32_t vocabulary = 64;
    std::uint32_t experts = 0; ///< 0: dense
    std::uint32_t chosen = 2;
    int firstLayer = 0;                       ///< whose q_proj is the first tap that differs
    std::optional<std::uint32_t> nanPosition; ///< of the first sample: one target value is NaN
    bool digestsOnly = false;                 ///< recorded at level digest
    std::vector<MadeSample> samples{{"fact", 8, 8, std::nullopt, 0}};
};

/// A MoE router has taps of its own and routing rows.
trace::RunHeader madeHeader(const MadeModel& model, bool target);

/// Writes the run into any sink (a builder, a file's writer).
void fill(trace::RunSink& sink, const MadeModel& model, bool target);

struct MadePair
{
    trace::RunPointer reference, target;
};
MadePair madePair(const MadeModel& model);

/// The model of the pictures and of the speed figure: like SmolLM2-135M's list of taps, four
/// samples.
MadeModel demoLikeModel();

} // namespace moire::test
