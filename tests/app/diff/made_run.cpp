// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/app/diff/made_run.h"

#include "core/numeric/digest.h"
#include "core/numeric/top_k.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

namespace moire::test {

namespace {

using numeric::DType;
using trace::TapKind;

/// A normal deviate that depends on its key alone (Box and Muller on two hashed words).
double normal(std::uint64_t key)
{
    constexpr double unit = 0x1p-53;
    const auto uniform = [](std::uint64_t word) {
        return (static_cast<double>(numeric::mix64(word) >> 11U) + 0.5) * unit;
    };
    return std::sqrt(-2 * std::log(uniform(2 * key + 1)))
           * std::cos(2 * std::numbers::pi * uniform(2 * key + 2));
}

trace::Tap tapOf(std::string name, std::int32_t layer, TapKind kind, DType dtype,
                 std::uint32_t width, std::vector<std::uint32_t> inputs, bool complete)
{
    trace::Tap tap;
    tap.name = std::move(name);
    tap.layer = layer;
    tap.kind = kind;
    tap.dtype = dtype;
    tap.width = width;
    for (const std::uint32_t input : inputs)
        tap.inputs.push_back(static_cast<trace::TapIndex>(input));
    tap.inputsComplete = complete;
    return tap;
}

void append(std::vector<std::byte>& out, std::uint64_t bits, DType dtype)
{
    const std::size_t size = numeric::sizeOf(dtype);
    out.resize(out.size() + size);
    std::memcpy(out.data() + out.size() - size, &bits, size);
}

/// Softmax over the chosen logits, as a router with normalised weights.
void route(const trace::RouterLayer& router, const std::vector<float>& logits,
           trace::RoutingBlock& block)
{
    const auto best = numeric::topK(logits.data(), logits.size(), router.chosen);
    double sum = 0;
    for (const numeric::Ranked& entry : best)
        sum += std::exp(static_cast<double>(entry.value - best[0].value));
    for (const numeric::Ranked& entry : best) {
        block.ids.push_back(entry.id);
        append(block.weights,
               bitsOf(std::exp(static_cast<double>(entry.value - best[0].value)) / sum,
                      router.weightType),
               router.weightType);
    }
    for (const float logit : logits)
        append(block.logits, bitsOf(static_cast<double>(logit), router.logitType),
               router.logitType);
}

struct Maker
{
    const MadeModel& model;
    trace::RunHeader header;
    std::uint64_t seed;
    const Touch& touch;

    double valueOf(std::size_t tap, std::uint64_t row, std::size_t element) const
    {
        constexpr double headScale = 3;
        const std::uint64_t key = ((seed * 1000003 + row) * 1009 + tap) * 1000003 + element;
        const double value =
            normal(key) * (header.taps[tap].kind == TapKind::Head ? headScale : 1.0);
        return touch ? touch(value, tap, row, element) : value;
    }

    /// An odd number beyond 2^53, which no double is.
    std::uint64_t integerOf(std::size_t tap, std::uint64_t row, std::size_t element) const
    {
        const std::uint64_t value = (1ULL << 53U) + 2 * element + 1;
        return value + static_cast<std::uint64_t>(touch ? touch(0, tap, row, element) : 0);
    }

    void addValues(std::uint64_t row, trace::RowBlock& block) const
    {
        std::size_t router = 0;
        for (std::size_t tap = 0; tap < header.taps.size(); ++tap) {
            const trace::Tap& info = header.taps[tap];
            std::vector<float> values;
            for (std::size_t i = 0; i < info.width; ++i) {
                const std::uint64_t bits = info.dtype == DType::I64
                                               ? integerOf(tap, row, i)
                                               : bitsOf(valueOf(tap, row, i), info.dtype);
                append(block.values[tap], bits, info.dtype);
                values.push_back(static_cast<float>(numeric::toDouble(bits, info.dtype)));
            }
            if (info.kind == TapKind::Router) {
                route(header.routers[router], values, block.routing[router]);
                ++router;
            }
        }
    }
};

std::vector<trace::Token> tokensOf(const MadeModel& model, const std::vector<std::int32_t>& ids,
                                   bool response)
{
    std::vector<trace::Token> tokens;
    for (const std::int32_t id : ids)
        tokens.push_back({id, response, -1,
                          model.tokenText.empty() ? 't' + std::to_string(id) : model.tokenText});
    return tokens;
}

} // namespace

std::uint64_t bitsOf(double value, DType dtype)
{
    switch (dtype) {
    case DType::BF16:
        return numeric::bf16FromFloat(static_cast<float>(value));
    case DType::FP16:
        return numeric::fp16FromFloat(static_cast<float>(value));
    default:
        return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
}

trace::RunHeader headerOf(const MadeModel& model)
{
    trace::RunHeader header;
    header.environment.set(trace::env::modelName, model.name);
    header.environment.set(trace::env::arithmetic, model.arithmetic);
    header.environment.set(trace::env::policy, std::string(numeric::nameOf(model.dtype)));
    header.environment.set(trace::env::replay, std::string("free"));
    header.environment.set(trace::env::sampling, std::string("greedy"));
    header.environment.set(trace::env::wallSeconds, model.wallSeconds);
    header.environment.set(trace::env::peakBytes, model.peakBytes);
    if (!model.startTime.empty())
        header.environment.set(trace::env::startTime, model.startTime);
    header.environment.set(trace::env::commandLine,
                           "moire-capture run imagined --arithmetic " + model.arithmetic);
    header.level = model.level;
    auto& taps = header.taps;
    taps.push_back(tapOf("model.embed_tokens.out", -1, TapKind::Embedding, model.dtype, model.width,
                         {}, false));
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
        const std::string path = "model.layers." + std::to_string(layer);
        const auto l = static_cast<std::int32_t>(layer);
        const auto before = static_cast<std::uint32_t>(taps.size() - 1);
        taps.push_back(tapOf(path + ".self_attn.out", l, TapKind::AttentionOutput, model.dtype,
                             model.width, {before}, false));
        const auto attention = static_cast<std::uint32_t>(taps.size() - 1);
        if (model.experts > 0) {
            taps.push_back(tapOf(path + ".mlp.gate.out", l, TapKind::Router, DType::FP32,
                                 model.experts, {attention}, true));
            header.routers.push_back({path + ".mlp.gate", l, model.experts, model.chosen,
                                      DType::FP32, model.dtype, false});
        }
        taps.push_back(tapOf(path + ".mlp.out", l, TapKind::MlpOutput, model.dtype, model.width,
                             {attention}, true));
        taps.push_back(tapOf(path + ".out", l, TapKind::Residual, model.dtype, model.width,
                             {attention, static_cast<std::uint32_t>(taps.size() - 1)}, true));
    }
    for (const std::string& name : model.extraTaps)
        taps.push_back(tapOf(name, -1, TapKind::Other, model.dtype, model.width, {}, true));
    if (!model.integerTap.empty())
        taps.push_back(tapOf(model.integerTap, -1, TapKind::Other, DType::I64, 4, {}, true));
    taps.push_back(tapOf("lm_head.out", -1, TapKind::Head, model.headType, model.vocabulary,
                         {static_cast<std::uint32_t>(taps.size() - 1)}, true));
    header.logits = {model.vocabulary, std::min(model.topK, model.vocabulary), model.headType, 0};
    return header;
}

Result<void> makeRun(trace::RunSink& sink, const MadeModel& model,
                     const std::vector<MadeSample>& samples, std::uint64_t seed, const Touch& touch)
{
    const Maker maker{model, headerOf(model), seed, touch};
    std::uint64_t row = 0;
    for (const MadeSample& sample : samples) {
        trace::Sample record;
        record.id = sample.id;
        record.category = sample.category;
        record.label = sample.label;
        auto index = sink.beginSample(record, tokensOf(model, sample.prompt, false));
        if (!index)
            return index.error();
        std::vector<std::int32_t> ids = sample.prompt;
        ids.insert(ids.end(), sample.response.begin(), sample.response.end());
        const std::size_t rows = sample.response.empty() ? ids.size() : ids.size() - 1;
        for (std::size_t position = 0; position < rows; ++position, ++row) {
            trace::RowBlock block;
            block.values.resize(maker.header.taps.size());
            block.routing.resize(maker.header.routers.size());
            maker.addValues(row, block);
            trace::Row entry;
            entry.sample = *index;
            entry.position = static_cast<std::uint32_t>(position);
            entry.phase =
                position < sample.prompt.size() ? trace::Phase::Prefill : trace::Phase::Decode;
            const std::int32_t next = position + 1 < ids.size() ? ids[position + 1] : -1;
            entry.score = trace::appendTopK(maker.header.logits, block.values.back().data(), next,
                                            block.topK);
            block.rows = {entry};
            trace::summariseBlock(maker.header, block);
            if (auto appended = sink.append(std::move(block)); !appended)
                return appended;
        }
        if (auto added = sink.addTokens(*index, tokensOf(model, sample.response, true)); !added)
            return added;
        if (auto ended = sink.endSample(*index, "length", sample.prediction); !ended)
            return ended;
    }
    return {};
}

} // namespace moire::test
