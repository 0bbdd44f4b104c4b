// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/store/sample_run.h"

#include "core/numeric/digest.h"
#include "core/numeric/top_k.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

namespace moire::store::test {

using numeric::DType;

namespace {

/// SplitMix64: the same bits everywhere.
class Bits
{
public:
    explicit Bits(std::uint64_t seed)
        : m_state(seed)
    {}
    std::uint64_t next() { return numeric::mix64(m_state += numeric::digestStep); }
    float real() { return static_cast<float>(next() >> 40U) / 1024.0F - 8192.0F; }

private:
    std::uint64_t m_state;
};

template <class T>
std::vector<std::byte> randomBytes(Bits& bits, std::size_t count)
{
    std::vector<std::byte> bytes(count * sizeof(T));
    for (std::byte& b : bytes)
        b = static_cast<std::byte>(bits.next());
    return bytes;
}

std::vector<std::byte> randomElements(Bits& bits, DType dtype, std::size_t count)
{
    auto bytes = randomBytes<std::byte>(bits, count * numeric::sizeOf(dtype));
    if (dtype == DType::Bool)
        for (std::byte& b : bytes)
            b &= std::byte{1};
    return bytes;
}

void append(std::vector<std::byte>& bytes, float value, DType dtype)
{
    const std::uint32_t word =
        dtype == DType::BF16 ? numeric::bf16FromFloat(value) : std::bit_cast<std::uint32_t>(value);
    const std::size_t at = bytes.size();
    bytes.resize(at + numeric::sizeOf(dtype));
    std::memcpy(bytes.data() + at, &word, numeric::sizeOf(dtype));
}

/// The best experts of random logits and their softmax: what verify() takes for sound.
void addRoute(Bits& bits, const trace::RouterLayer& router, trace::RoutingBlock& routing)
{
    constexpr float scale = 2048; // real() is within 8192 of 0
    std::vector<float> logits(router.experts);
    for (float& logit : logits) {
        logit = bits.real() / scale;
        append(routing.logits, logit, router.logitType);
    }
    const auto best = numeric::topK(logits.data(), logits.size(), router.chosen);
    float sum = 0;
    for (const numeric::Ranked& entry : best)
        sum += std::exp(entry.value - best[0].value);
    for (const numeric::Ranked& entry : best) {
        routing.ids.push_back(entry.id);
        append(routing.weights, std::exp(entry.value - best[0].value) / sum, router.weightType);
    }
}

} // namespace

trace::RunHeader sampleHeader(trace::Level level)
{
    trace::RunHeader header;
    header.level = level;
    header.environment.set(trace::env::modelName, std::string("Prüfling \xF0\x9F\x94\xAC"));
    header.environment.set(trace::env::vocabSize, std::int64_t{50});
    header.environment.set("empty", std::string());
    header.environment.set("a.number", -0.5);
    header.environment.set(trace::env::tf32, false);
    std::uint32_t width = 1;
    for (const DType dtype : numeric::allDTypes) {
        trace::Tap tap;
        tap.name = "model.layers.0." + std::string(nameOf(dtype)) + ".out";
        tap.layer = static_cast<std::int32_t>(width) - 2;
        tap.kind = static_cast<trace::TapKind>(width % 15);
        tap.dtype = dtype;
        tap.width = width++;
        if (!header.taps.empty())
            tap.inputs = {trace::TapIndex{0}, static_cast<trace::TapIndex>(header.taps.size() - 1)};
        tap.inputsComplete = dtype == DType::FP32;
        tap.readsEarlierRows = dtype == DType::FP64;
        tap.partial = dtype == DType::I8;
        tap.rank = tap.partial ? 3 : -1;
        tap.tpSensitive = dtype == DType::I16;
        tap.slots = dtype == DType::FP16 ? 2 : 0;
        header.taps.push_back(tap);
    }
    header.routers = {{"model.layers.0.mlp.gate", 0, 8, 2, DType::FP32, DType::BF16, false},
                      {"model.layers.1.mlp.gate", 1, 5, 3, DType::BF16, DType::FP32, true}};
    header.logits = {50, 4, DType::BF16, 2};
    header.vocabulary = {"a", "", "\xff", " b"};
    return header;
}

trace::RowBlock randomBlock(const trace::RunHeader& header, trace::SampleIndex sample,
                            std::uint32_t first, std::uint32_t rows, std::uint64_t seed)
{
    Bits bits(seed);
    trace::RowBlock block;
    for (std::uint32_t r = 0; r < rows; ++r) {
        trace::Row row;
        row.sample = sample;
        row.position = first + r;
        row.step = r;
        row.batchSlot = r % 3;
        row.phase = static_cast<trace::Phase>(r % 4);
        row.construction = static_cast<trace::Construction>(r % 2);
        row.score = {static_cast<std::int32_t>(r) - 1, bits.real(), bits.real() / 3.0,
                     static_cast<std::int32_t>(bits.next() % 50)};
        block.rows.push_back(row);
        if (header.logits.vocabulary == 0)
            continue;
        for (std::uint32_t i = 0; i < header.logits.topK; ++i) {
            block.topK.ids.push_back(static_cast<std::int32_t>(i * 3));
            block.topK.values.push_back(bits.real());
        }
        block.topK.logSumExp.push_back(bits.real());
        block.topK.remainingMass.push_back(0.25);
        for (std::uint32_t i = 0; i < header.logits.asked; ++i) {
            block.topK.askedIds.push_back(i == 0 ? 7 : -1);
            block.topK.askedValues.push_back(bits.real());
        }
    }
    for (const trace::Tap& tap : header.taps)
        block.values.push_back(randomElements(bits, tap.dtype, std::size_t{rows} * tap.width));
    for (const trace::RouterLayer& router : header.routers) {
        trace::RoutingBlock routing;
        for (std::uint32_t r = 0; r < rows; ++r)
            addRoute(bits, router, routing);
        for (std::uint32_t i = 0; router.hasScores && i < rows * router.experts; ++i)
            routing.scores.push_back(bits.real());
        block.routing.push_back(std::move(routing));
    }
    summariseBlock(header, block);
    return block;
}

Result<void> record(trace::RunSink& sink, const trace::RunHeader& header, std::uint32_t rows)
{
    const std::vector<std::string> texts{"The capital of France is", "",
                                         "na\xC3\xAFve \xE2\x80\xAE"};
    for (std::size_t s = 0; s < texts.size(); ++s) {
        trace::Sample sample;
        sample.id = "s/" + std::to_string(s);
        sample.repeat = static_cast<std::uint32_t>(s);
        sample.category = s == 0 ? "facts" : "";
        sample.text = texts[s];
        if (s == 1) {
            sample.choices = {"A", "", "C"};
            sample.label = "C";
            sample.replaySource = "s/0";
        }
        std::vector<trace::Token> prompt;
        for (std::uint32_t i = 0; i < rows; ++i)
            prompt.push_back({static_cast<std::int32_t>(i * 5), false, i == 0 ? 0 : -1,
                              std::string("\xFF\x00t", 3) + std::to_string(i)});
        const auto index = sink.beginSample(sample, prompt);
        if (!index)
            return index.error();
        std::uint32_t done = 0;
        for (std::uint32_t take = 1; done < rows; take = take * 2 + 1) {
            const std::uint32_t count = std::min(take, rows - done);
            if (auto appended =
                    sink.append(randomBlock(header, *index, done, count, 1000 * s + done));
                !appended)
                return appended;
            done += count;
        }
        if (auto added = sink.addTokens(*index, {{49, true, 17, "x"}}); !added)
            return added;
        if (auto noted = sink.addEvent({s * rows, "warning", "sample " + sample.id}); !noted)
            return noted;
        if (auto ended = sink.endSample(*index, s == 0 ? "length" : "end", s == 1 ? "B" : "");
            !ended)
            return ended;
    }
    return {};
}

trace::Environment closingFields()
{
    trace::Environment closing;
    closing.set(trace::env::wallSeconds, 1.5);
    closing.set(trace::env::modelName, std::string("renamed at the end"));
    return closing;
}

} // namespace moire::store::test
