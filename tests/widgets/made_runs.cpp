// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/widgets/made_runs.h"

#include "core/numeric/digest.h"
#include "core/numeric/dtype.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

namespace moire::test {

namespace {

using numeric::DType;
namespace env = trace::env;

/// Counter-based noise: the same place gives the same number in both runs.
std::uint64_t noise(std::uint64_t a, std::uint64_t b, std::uint64_t c)
{
    return numeric::mix64(numeric::mix64(a * 0x9E3779B97F4A7C15ULL + b) + c);
}

double uniform(std::uint64_t a, std::uint64_t b, std::uint64_t c)
{
    return static_cast<double>(noise(a, b, c) >> 11U) * 0x1p-53;
}

/// Nearly normal: four 16-bit uniforms summed (Irwin–Hall), mean 0, variance 1.
double normal(std::uint64_t a, std::uint64_t b, std::uint64_t c)
{
    const std::uint64_t bits = noise(a, b, c);
    double sum = 0;
    for (unsigned shift = 0; shift < 64; shift += 16)
        sum += static_cast<double>((bits >> shift) & 0xFFFFU) * 0x1p-16;
    return (sum - 2.0) * 1.7320508075688772;
}

std::string wordAt(std::size_t i)
{
    static const std::vector<std::string> words{
        "The",   " capital",     " of",    " France", " is",    " Paris",   ",",    " a",
        " city", " on",          " the",   " Seine",  " known", " for",     " its", " museums",
        ".",     "\n",           "It",     " has",    " been",  " home",    " to",  " kings",
        " and",  " revolutions", " since", " Roman",  " times", "\xE2\x80", "é",    "中"};
    return words[i % words.size()];
}

std::int32_t tokenId(const MadeModel& model, std::size_t sample, std::size_t position, bool parted)
{
    return static_cast<std::int32_t>((sample * 7 + position + (parted ? 11 : 0))
                                     % model.vocabulary);
}

bool isParted(const MadeSample& sample, std::uint32_t position, bool target)
{
    return target && sample.split && position >= *sample.split;
}

void setBf16(std::vector<std::byte>& bytes, std::size_t i, std::uint16_t bits)
{
    std::memcpy(bytes.data() + 2 * i, &bits, 2);
}

/// One row of one tap. The target moves elements by an ulp, more of them deeper in the model.
std::vector<std::byte> rowOf(const MadeModel& model, const trace::Tap& tap, std::size_t order,
                             std::size_t taps, std::size_t sample, std::uint32_t position,
                             bool target, bool differs, bool parted)
{
    std::vector<std::byte> bytes(tap.rowBytes());
    const std::uint64_t place =
        (sample * 4096 + position) * 8192 + order + (parted ? 1U << 30U : 0U);
    const double share = 0.01 + 0.6 * static_cast<double>(order) / static_cast<double>(taps);
    const bool head = tap.kind == trace::TapKind::Head;
    for (std::size_t i = 0; i < tap.width; ++i) {
        double value = normal(place, 17, i);
        if (head)
            value = 8.0 + 3.0 * value
                    + (static_cast<std::int32_t>(i) == tokenId(model, sample, position + 1, false)
                           ? 6.0
                           : 0.0);
        std::uint16_t bits = numeric::bf16FromFloat(static_cast<float>(value));
        if (target && differs) {
            const double draw = uniform(place, 23, i);
            if (draw < share || (i == 0 && order % 7 != 3))
                bits = static_cast<std::uint16_t>(bits + (draw < 0.9 * share ? 1 : 2));
        }
        setBf16(bytes, i, bits);
    }
    return bytes;
}

void addRouting(const MadeModel& model, const trace::RunHeader& header, trace::RowBlock& block,
                std::size_t sample, std::uint32_t position, bool changed)
{
    block.routing.resize(header.routers.size());
    for (std::size_t r = 0; r < header.routers.size(); ++r) {
        std::vector<std::pair<double, std::int32_t>> order;
        std::vector<std::byte> logits(2 * model.experts);
        for (std::uint32_t e = 0; e < model.experts; ++e) {
            double value = normal(sample * 4096 + position, 41 + r, e);
            if (changed && r % 3 == 1 && uniform(position, r, 5) < 0.3)
                value += 0.8 * normal(sample * 4096 + position, 77 + r, e);
            const std::uint16_t bits = numeric::bf16FromFloat(static_cast<float>(value));
            setBf16(logits, e, bits);
            order.emplace_back(-static_cast<double>(numeric::floatFromBf16(bits)),
                               static_cast<std::int32_t>(e));
        }
        std::sort(order.begin(), order.end());
        trace::RoutingBlock& routing = block.routing[r];
        routing.logits.insert(routing.logits.end(), logits.begin(), logits.end());
        double sum = 0;
        for (std::uint32_t k = 0; k < model.chosen; ++k)
            sum += std::exp(-order[k].first);
        for (std::uint32_t k = 0; k < model.chosen; ++k) {
            routing.ids.push_back(order[k].second);
            const auto weight = static_cast<float>(std::exp(-order[k].first) / sum);
            const auto* raw = reinterpret_cast<const std::byte*>(&weight);
            routing.weights.insert(routing.weights.end(), raw, raw + sizeof weight);
        }
    }
}

/// The row whose router values stand in the tap too, so that both tell the same.
void copyRouterTaps(const trace::RunHeader& header, trace::RowBlock& block)
{
    for (std::size_t t = 0; t < header.taps.size(); ++t)
        if (header.taps[t].kind == trace::TapKind::Router)
            for (std::size_t r = 0; r < header.routers.size(); ++r)
                if (header.routers[r].layer == header.taps[t].layer)
                    block.values[t] = block.routing[r].logits;
}

trace::RowBlock blockOf(const MadeModel& model, const trace::RunHeader& header, std::size_t index,
                        trace::SampleIndex sampleIndex, std::uint32_t position, bool target)
{
    const MadeSample& sample = model.samples[index];
    trace::RowBlock block;
    trace::Row row;
    row.sample = sampleIndex;
    row.position = position;
    row.step = position < sample.prompt ? 0 : position - sample.prompt + 1;
    row.phase = position < sample.prompt ? trace::Phase::Prefill : trace::Phase::Decode;
    const bool differs = position >= sample.firstDifference;
    block.values.resize(header.taps.size());
    const auto firstTap =
        static_cast<std::size_t>(std::find_if(header.taps.begin(), header.taps.end(),
                                              [&](const trace::Tap& tap) {
                                                  return tap.layer == model.firstLayer
                                                         && tap.kind == trace::TapKind::Projection;
                                              })
                                 - header.taps.begin());
    for (std::size_t t = 0; t < header.taps.size(); ++t)
        block.values[t] =
            rowOf(model, header.taps[t], t, header.taps.size(), index, position, target,
                  differs && t >= firstTap, isParted(sample, position, target));
    if (target && index == 0 && model.nanPosition == position)
        setBf16(block.values[firstTap], 1, 0x7FC0);
    if (model.experts > 0) {
        addRouting(model, header, block, index, position, target && differs);
        copyRouterTaps(header, block);
    }
    const std::uint32_t total = sample.prompt + sample.response;
    const std::int32_t next = position + 1 < total ? tokenId(model, index, position + 1,
                                                             isParted(sample, position + 1, target))
                                                   : -1;
    row.score = trace::appendTopK(header.logits, block.values.back().data(), next, block.topK);
    block.rows.push_back(row);
    trace::summariseBlock(header, block);
    if (model.digestsOnly) {
        block.values.assign(header.taps.size(), {});
        block.statistics.clear();
    }
    return block;
}

} // namespace

trace::RunHeader madeHeader(const MadeModel& model, bool target)
{
    trace::RunHeader header;
    auto& e = header.environment;
    e.set(env::modelName, std::string("SmolLM2-135M-Instruct"));
    e.set(env::architecture, std::string("LlamaForCausalLM"));
    e.set(env::policy, std::string("bf16"));
    e.set(env::arithmetic, std::string(target ? "native" : "ordered"));
    e.set(env::blas, std::string(target ? "oneDNN" : "none"));
    e.set(env::device, std::string("CPU"));
    e.set(env::arch, std::string("AVX-512"));
    e.set(env::tpSize, std::int64_t{1});
    e.set(env::replay, std::string(target ? "forced" : "free"));
    e.set(env::construction, std::string("steps"));
    const auto add = [&header, &model](const std::string& name, int layer, trace::TapKind kind,
                                       std::uint32_t width, bool hasInput) {
        trace::Tap tap;
        tap.name = name;
        tap.layer = layer;
        tap.kind = kind;
        tap.dtype = DType::BF16;
        tap.width = width;
        if (hasInput && !header.taps.empty()) {
            tap.inputs.push_back(static_cast<trace::TapIndex>(header.taps.size() - 1));
            tap.inputsComplete = true;
        }
        header.taps.push_back(tap);
        (void)model;
    };
    using Kind = trace::TapKind;
    add("model.embed_tokens.out", -1, Kind::Embedding, model.width, false);
    for (int layer = 0; layer < model.layers; ++layer) {
        const std::string path = "model.layers." + std::to_string(layer) + '.';
        add(path + "input_layernorm.out", layer, Kind::Norm, model.width, true);
        add(path + "self_attn.q_proj.out", layer, Kind::Projection, model.width, true);
        add(path + "self_attn.k_proj.out", layer, Kind::Projection, model.width / 2, false);
        add(path + "self_attn.v_proj.out", layer, Kind::Projection, model.width / 2, false);
        add(path + "self_attn.q_rope.out", layer, Kind::Rotated, model.width, false);
        add(path + "self_attn.k_rope.out", layer, Kind::Rotated, model.width / 2, false);
        add(path + "self_attn.o_proj.in", layer, Kind::ProjectionInput, model.width, false);
        add(path + "self_attn.o_proj.out", layer, Kind::AttentionOutput, model.width, true);
        add(path + "post_attention_layernorm.out", layer, Kind::Norm, model.width, false);
        if (model.experts > 0) {
            add(path + "mlp.gate.out", layer, Kind::Router, model.experts, true);
            add(path + "mlp.experts.out", layer, Kind::Experts, model.width, false);
            header.routers.push_back({path + "mlp.gate", layer, model.experts, model.chosen,
                                      DType::BF16, DType::FP32, false});
        } else {
            add(path + "mlp.gate_proj.out", layer, Kind::Projection, 2 * model.width, true);
            add(path + "mlp.up_proj.out", layer, Kind::Projection, 2 * model.width, false);
            add(path + "mlp.act_fn.out", layer, Kind::Activation, 2 * model.width, false);
            add(path + "mlp.down_proj.in", layer, Kind::ProjectionInput, 2 * model.width, false);
            add(path + "mlp.down_proj.out", layer, Kind::MlpOutput, model.width, true);
        }
        add(path + "out", layer, Kind::Residual, model.width, false);
    }
    add("model.norm.out", -1, Kind::Norm, model.width, true);
    add("lm_head.out", -1, Kind::Head, model.vocabulary, true);
    header.level = model.digestsOnly ? trace::Level::Digest : trace::Level::Full;
    header.logits = {model.vocabulary, std::min(model.vocabulary, 64U), DType::BF16, 0};
    return header;
}

void fill(trace::RunSink& sink, const MadeModel& model, bool target)
{
    const trace::RunHeader header = madeHeader(model, target);
    for (std::size_t index = 0; index < model.samples.size(); ++index) {
        const MadeSample& made = model.samples[index];
        trace::Sample sample;
        sample.id = made.id;
        std::vector<trace::Token> prompt, response;
        for (std::uint32_t position = 0; position < made.prompt + made.response; ++position) {
            trace::Token token;
            token.id = tokenId(model, index, position, isParted(made, position, target));
            token.response = position >= made.prompt;
            token.bytes = wordAt(static_cast<std::size_t>(token.id));
            (token.response ? response : prompt).push_back(token);
        }
        const auto place = sink.beginSample(sample, prompt);
        assert(place);
        for (std::uint32_t position = 0; position + 1 < made.prompt + made.response; ++position) {
            const auto appended =
                sink.append(blockOf(model, header, index, *place, position, target));
            assert(appended);
            (void)appended;
        }
        (void)sink.addTokens(*place, response);
        (void)sink.endSample(*place, "length", {});
    }
    (void)sink.finish({});
}

MadePair madePair(const MadeModel& model)
{
    trace::RunBuilder reference(madeHeader(model, false), "reference.moire");
    trace::RunBuilder target(madeHeader(model, true), "target.moire");
    fill(reference, model, false);
    fill(target, model, true);
    return {reference.snapshot(), target.snapshot()};
}

MadeModel demoLikeModel()
{
    MadeModel model;
    model.layers = 30;
    model.width = 96;
    model.vocabulary = 512;
    model.samples = {{"fact-paris", 14, 41, 37, 0},
                     {"reason-apples", 20, 36, std::nullopt, 0},
                     {"code-fib", 16, 36, std::nullopt, 3},
                     {"french-drapeau", 22, 33, std::nullopt, 9}};
    return model;
}

} // namespace moire::test
