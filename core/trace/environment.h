// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace moire::trace {

/// What the run was made with: the fields of FORMAT.md, section "environment", in file order.
/// A field that is absent is unknown, never a default.
class Environment
{
public:
    using Value = std::variant<std::string, std::int64_t, double, bool>;

    void set(std::string_view key, Value value);
    const Value* find(std::string_view key) const;
    /// The value as one would print it; "" when absent.
    std::string text(std::string_view key) const;
    const std::vector<std::pair<std::string, Value>>& fields() const { return m_fields; }

    friend bool operator==(const Environment&, const Environment&) = default;

private:
    std::vector<std::pair<std::string, Value>> m_fields;
};

std::string textOf(const Environment::Value& value);

/// The keys that have a meaning in comparisons and views. Others may occur and are kept.
namespace env {
inline constexpr std::string_view modelName = "model.name";
inline constexpr std::string_view architecture = "model.architecture";
inline constexpr std::string_view weightDigest = "model.weight_digest"; ///< "0x" + 16 hex digits
inline constexpr std::string_view tokenizerDigest =
    "model.tokenizer_digest"; ///< "0x" + 16 hex digits
inline constexpr std::string_view vocabSize = "model.vocab_size";
inline constexpr std::string_view attentionHeads = "model.attention_heads";
inline constexpr std::string_view keyValueHeads = "model.key_value_heads";
inline constexpr std::string_view headDim = "model.head_dim";
inline constexpr std::string_view vendor = "device.vendor";
inline constexpr std::string_view device = "device.name";
inline constexpr std::string_view arch = "device.arch"; ///< sm_90, gfx942, or the CPU's SIMD level
inline constexpr std::string_view driver = "device.driver";
inline constexpr std::string_view runtime = "device.runtime";
inline constexpr std::string_view probe = "device.probe";
inline constexpr std::string_view blas = "library.blas";
inline constexpr std::string_view blasVersion = "library.blas_version";
inline constexpr std::string_view torchVersion = "library.torch_version";
inline constexpr std::string_view policy = "numerics.policy";
inline constexpr std::string_view policyRules =
    "numerics.policy_rules"; ///< which modules it computes how
inline constexpr std::string_view arithmetic = "numerics.arithmetic";
inline constexpr std::string_view kPlan = "numerics.k_plan";
inline constexpr std::string_view tpSize = "numerics.tp_size";
inline constexpr std::string_view reduction = "numerics.reduction";
inline constexpr std::string_view attention = "numerics.attention";
inline constexpr std::string_view expertOrder = "numerics.expert_order"; ///< "ascending", "slots"
inline constexpr std::string_view tf32 = "numerics.tf32";
inline constexpr std::string_view reducedPrecision = "numerics.reduced_precision_reduction";
inline constexpr std::string_view threads = "run.threads";
inline constexpr std::string_view batchSize = "run.batch_size";
inline constexpr std::string_view seed = "run.seed";
inline constexpr std::string_view sampling = "run.sampling"; ///< "greedy", …
inline constexpr std::string_view replay = "run.replay";     ///< free, forced, prefix
inline constexpr std::string_view replaySource =
    "run.replay_source"; ///< file name of the reference
inline constexpr std::string_view prefixTokens =
    "run.prefix_tokens"; ///< of each response, given in advance
inline constexpr std::string_view prefillChunk =
    "run.prefill_chunk";                                   ///< tokens of a prompt a forward pass
inline constexpr std::string_view padding = "run.padding"; ///< left, right
inline constexpr std::string_view construction = "run.construction"; ///< once, steps
inline constexpr std::string_view logProbs = "run.log_probs";        ///< raw, processed
inline constexpr std::string_view program = "run.program";
inline constexpr std::string_view commandLine = "run.command_line";
inline constexpr std::string_view startTime = "run.start_time"; ///< ISO 8601, UTC
inline constexpr std::string_view endTime = "run.end_time";
inline constexpr std::string_view wallSeconds = "run.wall_seconds";
inline constexpr std::string_view peakBytes = "run.peak_bytes";
inline constexpr std::string_view observerCheck =
    "run.observer_check"; ///< "bitwise equal", "differs …", absent
} // namespace env

/// True for the fields that differ between any two runs and say nothing about arithmetic (times,
/// command line, wall seconds, peak bytes, replay source, the observer check's result).
bool isIncidental(std::string_view key);

} // namespace moire::trace
