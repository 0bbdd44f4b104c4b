// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/runner.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// The models of tests/data/models, runs of them in memory, and their expected values.
namespace moire::capture::fixture {

inline const std::vector<std::string> models{
    "llama_small", "llama_odd", "olmoe_small", "olmoe_odd", "mistral", "qwen2", "qwen3",
    "olmo",        "olmo2",     "qwen2_moe",   "qwen3_moe", "mixtral", "gpt2",  "jais2"};

std::filesystem::path folder(const std::string& model);
Checkpoint open(const std::string& model);
/// The prompt that the expected values belong to.
std::vector<std::int32_t> promptIds(const std::string& model);
Prompt promptOf(std::vector<std::int32_t> ids, const std::string& id = "0");
/// Prompts of different lengths; the first is the one that the expected values belong to.
std::vector<Prompt> prompts(const std::string& model, std::size_t count);

/// Runs all prompts; a failure ends the test program with its sentence.
trace::RunPointer run(const Checkpoint& checkpoint, const RunOptions& options,
                      const std::vector<Prompt>& prompts);

/// A float32 or int32 .npy of two dimensions (one counts as a column), widened.
struct Array
{
    std::size_t rows = 0, width = 0;
    std::vector<double> values;
};
/// Taps of layers that have expected values.
std::vector<std::string> expectedTaps(const std::string& model, const std::string& policy);
Array expected(const std::string& model, const std::string& policy, const std::string& name);

/// A tap's values in the order of rows, for rows [rowBegin, rowEnd) of one sample.
Array recorded(const trace::Run& run, const std::string& tap, std::size_t sample = 0);

double relativeL2(const Array& reference, const Array& target);
double shareEqual(const Array& reference, const Array& target);

/// Name of the first tap, and row, whose bits differ between two samples (by position); "" if none.
std::string firstDifferentBits(const trace::Run& a, std::size_t sampleA, const trace::Run& b,
                               std::size_t sampleB);

} // namespace moire::capture::fixture
