// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::trace {

// Ids are types: a tap's place in the tap list is not a row number.
enum class TapIndex : std::uint32_t
{
};
enum class SampleIndex : std::uint32_t
{
};
using RowIndex = std::uint64_t;

constexpr std::size_t indexOf(TapIndex tap)
{
    return static_cast<std::size_t>(tap);
}
constexpr std::size_t indexOf(SampleIndex sample)
{
    return static_cast<std::size_t>(sample);
}

/// The numbers are those of the file format: never renumber.
enum class TapKind : std::uint8_t
{
    Other = 0,
    Embedding = 1,
    Norm = 2,
    Projection = 3,      ///< a linear layer's output
    ProjectionInput = 4, ///< a `.in` tap
    Rotated = 5,         ///< q or k after rotation
    AttentionOutput = 6, ///< the attention module's output (after o_proj)
    MlpOutput = 7,
    Residual = 8,     ///< `model.layers.N.out`
    Router = 9,       ///< router logits
    Experts = 10,     ///< weighted sum of the routed experts
    ExpertSlots = 11, ///< per-slot values, rows × (k · width) in slot order
    Head = 12,
    Activation = 13,
    RotaryTable = 14,
};
std::string_view nameOf(TapKind kind);
std::optional<TapKind> tapKindFromNumber(std::uint64_t number);

/// A named place in the model. Its order is its place in Run::taps(): execution order.
struct Tap
{
    std::string name;        ///< Hugging Face module path plus `.out` or `.in`
    std::int32_t layer = -1; ///< −1 outside the decoder layers
    TapKind kind = TapKind::Other;
    numeric::DType dtype = numeric::DType::FP32;
    std::uint32_t width = 0;      ///< elements a row
    std::uint32_t slots = 0;      ///< k for per-slot taps (width is a multiple of it), else 0
    std::vector<TapIndex> inputs; ///< recorded taps that this op reads at the same row
    bool inputsComplete = false;  ///< all that the op reads at this row is among `inputs`
    bool readsEarlierRows =
        false; ///< attention: also reads `inputs` of kind Rotated/Projection (K, V) at earlier rows
    std::int32_t rank = -1;   ///< tensor-parallel rank, −1: not a rank's value
    bool partial = false;     ///< one rank's partial sum
    bool tpSensitive = false; ///< row-parallel under tensor parallelism

    std::size_t rowBytes() const { return width * numeric::sizeOf(dtype); }
    friend bool operator==(const Tap&, const Tap&) = default;
};

/// One prompt with its response.
struct Sample
{
    std::string id;
    std::uint32_t repeat = 0;
    std::string category;
    std::string text; ///< the prompt as given; empty when ids were given
    std::vector<std::string> choices;
    std::string label;
    std::string prediction;
    std::string replaySource; ///< "" or the id of the sample whose tokens were replayed
    std::string stopReason;   ///< "", "length", "end", "cancelled"
    friend bool operator==(const Sample&, const Sample&) = default;
};

/// One token of a sample; its place in Run::tokens(sample) is its position.
struct Token
{
    std::int32_t id = -1;
    bool response = false;        ///< generated (or scored as a response), not prompt
    std::int64_t textOffset = -1; ///< byte offset in the sample's decoded text
    std::string bytes;            ///< what the tokenizer decodes it to; may be invalid UTF-8
    friend bool operator==(const Token&, const Token&) = default;
};

enum class Phase : std::uint8_t
{
    Prefill = 0,
    Decode = 1,
    Forced = 2,
    Prefix = 3
};
enum class Construction : std::uint8_t
{
    Once = 0,
    Steps = 1
};
enum class Level : std::uint8_t
{
    Digest = 0,
    TopK = 1,
    Full = 2
};
std::string_view nameOf(Phase phase);
std::string_view nameOf(Construction construction);
std::string_view nameOf(Level level);
std::optional<Phase> phaseFromNumber(std::uint64_t number);
std::optional<Construction> constructionFromNumber(std::uint64_t number);
std::optional<Level> levelFromNumber(std::uint64_t number);
std::optional<Level> levelFromName(std::string_view name);

/// What a row's logits said of the token that follows it in the sample.
struct TokenScore
{
    std::int32_t id = -1;   ///< −1: no token follows (or logits were not computed)
    float logit = 0;        ///< in the logits' own precision, widened
    double logProb = 0;     ///< natural log, fp64 log-sum-exp over the row's logits
    std::int32_t rank = -1; ///< 0 = best, ties by ascending id
    friend bool operator==(const TokenScore&, const TokenScore&) = default;
};

/// One recorded position of one sample.
struct Row
{
    SampleIndex sample{};
    std::uint32_t position = 0;
    std::uint32_t step = 0; ///< forward pass that computed it
    std::uint32_t batchSlot = 0;
    Phase phase = Phase::Prefill;
    Construction construction = Construction::Once;
    std::uint64_t rollUp = 0; ///< wordsDigest over the row's tap digests, tap order
    TokenScore score;
    friend bool operator==(const Row&, const Row&) = default;
};

/// Value classes counted per (row, tap).
struct Counts
{
    std::uint32_t finite = 0;
    std::uint32_t nan = 0;
    std::uint32_t infinite = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
};

/// Statistics per (row, tap), levels topk and full; over finite values; NaN when there is none.
struct Statistics
{
    float min = 0;
    float max = 0;
    float mean = 0;
    float l2 = 0;
    friend bool operator==(const Statistics&, const Statistics&) = default;
};

/// A MoE layer's router as recorded at every level.
struct RouterLayer
{
    std::string module; ///< "model.layers.3.mlp.gate"
    std::int32_t layer = 0;
    std::uint32_t experts = 0; ///< E
    std::uint32_t chosen = 0;  ///< k
    numeric::DType logitType = numeric::DType::FP32;
    numeric::DType weightType = numeric::DType::FP32;
    bool hasScores = false; ///< selection scores (fp32) where they are not the logits
    friend bool operator==(const RouterLayer&, const RouterLayer&) = default;
};

/// What is recorded of a row's logits besides the `lm_head.out` tap.
struct LogitsInfo
{
    std::uint32_t vocabulary = 0; ///< V; 0: no logits recorded at all
    std::uint32_t topK = 0;       ///< K of the top-K table, ≤ V
    numeric::DType dtype = numeric::DType::FP32;
    std::uint32_t asked = 0; ///< further ids recorded a row (answer letters); unused places are −1
    friend bool operator==(const LogitsInfo&, const LogitsInfo&) = default;
};

/// Something that happened while recording.
struct Event
{
    RowIndex row = 0;
    std::string kind; ///< "gap", "drop", "warning"
    std::string text;
    friend bool operator==(const Event&, const Event&) = default;
};

} // namespace moire::trace
