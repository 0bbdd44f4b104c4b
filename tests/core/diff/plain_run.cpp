// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/diff/plain_run.h"

#include "core/numeric/top_k.h"

#include <QtGlobal>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace moire::diff::test {

namespace {

template <class T>
void append(std::vector<std::byte>& bytes, T bits)
{
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof bits);
    std::memcpy(bytes.data() + at, &bits, sizeof bits);
}

std::vector<double> widened(const std::vector<float>& values)
{
    return {values.begin(), values.end()};
}

trace::RowBlock blockOf(const PlainRun& run, const PlainRun::Row& row)
{
    trace::RowBlock block;
    trace::Row description;
    description.sample = static_cast<trace::SampleIndex>(row.sample);
    description.position = row.position;
    description.phase = row.phase;
    description.construction = row.construction;
    const auto& tokens = run.tokens[row.sample];
    const std::size_t next = std::size_t{row.position} + 1;
    for (std::size_t t = 0; t < run.header.taps.size(); ++t) {
        const trace::Tap& tap = run.header.taps[t];
        block.values.push_back(packed(row.values[t], tap.dtype));
        if (tap.name == trace::headTapName && run.header.logits.vocabulary > 0)
            description.score =
                trace::appendTopK(run.header.logits, block.values.back().data(),
                                  next < tokens.size() ? tokens[next].id : -1, block.topK);
        if (tap.name == trace::headTapName)
            for (const std::int32_t id : run.asked) {
                block.topK.askedIds.push_back(id);
                block.topK.askedValues.push_back(
                    static_cast<float>(row.values[t][static_cast<std::size_t>(id)]));
            }
    }
    for (std::size_t i = 0; i < run.header.routers.size(); ++i) {
        const PlainRun::Routing& routing = row.routing[i];
        block.routing.push_back({routing.ids,
                                 packed(widened(routing.weights), numeric::DType::FP32),
                                 packed(widened(routing.logits), numeric::DType::FP32),
                                 {}});
    }
    block.rows.push_back(description);
    trace::summariseBlock(run.header, block);
    return block;
}

} // namespace

std::vector<std::byte> packed(const std::vector<double>& values, numeric::DType dtype)
{
    std::vector<std::byte> bytes;
    for (const double value : values) {
        const auto narrow = static_cast<float>(value);
        switch (dtype) {
        case numeric::DType::BF16:
            append(bytes, numeric::bf16FromFloat(narrow));
            break;
        case numeric::DType::FP16:
            append(bytes, numeric::fp16FromFloat(narrow));
            break;
        default:
            append(bytes, std::bit_cast<std::uint32_t>(narrow));
        }
    }
    return bytes;
}

std::size_t PlainRun::tapAt(std::string_view name) const
{
    const auto at = std::find_if(header.taps.begin(), header.taps.end(),
                                 [name](const trace::Tap& tap) { return tap.name == name; });
    if (at == header.taps.end())
        qFatal("no tap %s", std::string(name).c_str());
    return static_cast<std::size_t>(at - header.taps.begin());
}

PlainRun::Row& PlainRun::rowAt(std::size_t sample, std::uint32_t position)
{
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row.sample == sample && row.position == position;
    });
    if (at == rows.end())
        qFatal("no such row");
    return *at;
}

trace::RunPointer PlainRun::build(const std::string& source) const
{
    trace::RunBuilder builder(header, source);
    writeInto(builder);
    return builder.snapshot();
}

void PlainRun::writeInto(trace::RunSink& sink) const
{
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (!sink.beginSample(samples[i], tokens[i]))
            qFatal("beginSample");
    for (const Row& row : rows)
        if (auto done = sink.append(blockOf(*this, row)); !done)
            qFatal("append: %s", done.error().text().c_str());
    if (!complete)
        return;
    if (auto done = sink.finish({}); !done)
        qFatal("finish: %s", done.error().text().c_str());
}

namespace {

/// The generator's own arithmetic, since the standard's distributions differ between libraries.
class Draws
{
public:
    explicit Draws(std::uint64_t seed)
        : m_engine(seed)
    {}
    double uniform() { return static_cast<double>(m_engine() >> 11U) * 0x1p-53; }
    /// Roughly normal: the sum of twelve uniform draws less six.
    double normal()
    {
        double sum = -6;
        for (int i = 0; i < 12; ++i)
            sum += uniform();
        return sum;
    }
    std::vector<double> row(std::size_t width, double scale)
    {
        std::vector<double> values(width);
        for (double& value : values)
            value = scale * normal();
        return values;
    }

private:
    std::mt19937_64 m_engine;
};

constexpr std::uint32_t hidden = 6;
constexpr std::uint32_t vocabulary = 80;
constexpr std::uint32_t expertCount = 8;
constexpr std::uint32_t chosenCount = 2;
constexpr int layerCount = 2;

void addTap(trace::RunHeader& header, const std::string& name, std::int32_t layer,
            trace::TapKind kind, numeric::DType dtype, std::uint32_t width,
            const std::vector<std::string>& inputs)
{
    trace::Tap tap;
    tap.name = name;
    tap.layer = layer;
    tap.kind = kind;
    tap.dtype = dtype;
    tap.width = width;
    tap.inputsComplete = true;
    tap.readsEarlierRows = kind == trace::TapKind::AttentionOutput;
    for (std::size_t i = 0; i < header.taps.size(); ++i)
        if (std::find(inputs.begin(), inputs.end(), header.taps[i].name) != inputs.end())
            tap.inputs.push_back(static_cast<trace::TapIndex>(i));
    header.taps.push_back(tap);
}

void addLayer(trace::RunHeader& header, int layer, numeric::DType dtype)
{
    using trace::TapKind;
    const std::string at = "model.layers." + std::to_string(layer) + '.';
    const std::string before = layer == 0 ? "model.embed_tokens.out"
                                          : "model.layers." + std::to_string(layer - 1) + ".out";
    addTap(header, at + "input_layernorm.out", layer, TapKind::Norm, dtype, hidden, {before});
    for (const char* name : {"q", "k", "v"})
        addTap(header, at + "self_attn." + name + "_proj.out", layer, TapKind::Projection, dtype,
               hidden, {at + "input_layernorm.out"});
    addTap(header, at + "self_attn.out", layer, TapKind::AttentionOutput, dtype, hidden,
           {at + "self_attn.q_proj.out", at + "self_attn.k_proj.out", at + "self_attn.v_proj.out"});
    addTap(header, at + "mlp.gate.out", layer, TapKind::Router, numeric::DType::FP32, expertCount,
           {at + "self_attn.out", before});
    addTap(header, at + "mlp.experts.down.slots", layer, TapKind::ExpertSlots, dtype,
           chosenCount * hidden, {at + "mlp.gate.out", at + "self_attn.out", before});
    header.taps.back().slots = chosenCount;
    addTap(header, at + "out", layer, TapKind::Residual, dtype, hidden,
           {at + "mlp.experts.down.slots", at + "mlp.gate.out", at + "self_attn.out", before});
    header.routers.push_back({at + "mlp.gate", layer, expertCount, chosenCount,
                              numeric::DType::FP32, numeric::DType::FP32, false});
}

PlainRun::Routing routingOf(const std::vector<double>& logits)
{
    PlainRun::Routing routing;
    for (const double logit : logits)
        routing.logits.push_back(static_cast<float>(logit));
    double sum = 0;
    for (const numeric::Ranked& entry :
         numeric::topK(routing.logits.data(), routing.logits.size(), chosenCount)) {
        routing.ids.push_back(entry.id);
        routing.weights.push_back(std::exp(entry.value));
        sum += static_cast<double>(routing.weights.back());
    }
    for (float& weight : routing.weights)
        weight = static_cast<float>(static_cast<double>(weight) / sum);
    return routing;
}

} // namespace

PlainRun randomRun(std::uint64_t seed, std::size_t samples, std::uint32_t rows,
                   numeric::DType dtype)
{
    Draws draws(seed);
    PlainRun run;
    addTap(run.header, "model.embed_tokens.out", -1, trace::TapKind::Embedding, dtype, hidden, {});
    for (int layer = 0; layer < layerCount; ++layer)
        addLayer(run.header, layer, dtype);
    addTap(run.header, "model.norm.out", -1, trace::TapKind::Norm, dtype, hidden,
           {"model.layers.1.out"});
    addTap(run.header, std::string(trace::headTapName), -1, trace::TapKind::Head, dtype, vocabulary,
           {"model.norm.out"});
    run.header.logits = {vocabulary, 64, dtype, 0};
    for (std::size_t sample = 0; sample < samples; ++sample) {
        trace::Sample description;
        description.id = "s" + std::to_string(sample);
        description.category = sample % 2 == 0 ? "even" : "odd";
        run.samples.push_back(description);
        run.tokens.emplace_back();
        for (std::uint32_t position = 0; position <= rows; ++position) {
            trace::Token token;
            token.id = static_cast<std::int32_t>(draws.uniform() * vocabulary);
            token.bytes = 't' + std::to_string(token.id);
            token.response = position > rows / 2;
            run.tokens.back().push_back(token);
        }
        for (std::uint32_t position = 0; position < rows; ++position) {
            PlainRun::Row row;
            row.sample = sample;
            row.position = position;
            row.phase = position > rows / 2 ? trace::Phase::Decode : trace::Phase::Prefill;
            for (const trace::Tap& tap : run.header.taps) {
                row.values.push_back(draws.row(tap.width, tap.width == vocabulary ? 3.0 : 1.0));
                if (tap.kind == trace::TapKind::Router)
                    row.routing.push_back(routingOf(row.values.back()));
            }
            run.rows.push_back(std::move(row));
        }
    }
    return run;
}

} // namespace moire::diff::test
