// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/wire/made_up_run.h"

#include <cstring>

namespace moire::madeup {

namespace {

using numeric::DType;

/// Any numbers, other ones at every place.
float valueAt(std::size_t place)
{
    return static_cast<float>(place % 97) - 48.5F; // between −48.5 and 47.5
}

template <class Number>
std::vector<Number> numbers(std::size_t count, std::size_t seed)
{
    std::vector<Number> made(count);
    for (std::size_t i = 0; i < count; ++i)
        made[i] = static_cast<Number>(valueAt(i * 7 + seed * 13));
    return made;
}

std::vector<std::byte> values(DType dtype, std::size_t count, std::size_t seed)
{
    std::vector<std::byte> bytes(count * numeric::sizeOf(dtype));
    const auto made = numbers<float>(count, seed);
    for (std::size_t i = 0; i < count; ++i) {
        // The upper half of an fp32 is a bf16.
        const auto* from = reinterpret_cast<const std::byte*>(&made[i]);
        const std::size_t size = numeric::sizeOf(dtype);
        std::memcpy(bytes.data() + i * size, from + sizeof(float) - size, size);
    }
    return bytes;
}

} // namespace

trace::RunHeader header(trace::Level level)
{
    trace::RunHeader header;
    header.level = level;
    header.environment.set(trace::env::modelName, std::string("made up"));
    header.environment.set(trace::env::threads, std::int64_t{2});
    header.environment.set(trace::env::wallSeconds, 0.1);
    header.environment.set(trace::env::tf32, false);
    header.taps = {{.name = "model.norm.out",
                    .kind = trace::TapKind::Norm,
                    .dtype = DType::FP32,
                    .width = 5,
                    .inputs = {}},
                   {.name = "model.layers.0.mlp.experts.slots",
                    .layer = 0,
                    .kind = trace::TapKind::ExpertSlots,
                    .dtype = DType::BF16,
                    .width = 6,
                    .slots = 2,
                    .inputs = {trace::TapIndex{0}},
                    .inputsComplete = true,
                    .readsEarlierRows = true,
                    .rank = 1,
                    .partial = true,
                    .tpSensitive = true},
                   {.name = std::string(trace::headTapName),
                    .kind = trace::TapKind::Head,
                    .dtype = DType::BF16,
                    .width = 7,
                    .inputs = {}}};
    header.routers = {{"model.layers.0.mlp.gate", 0, 4, 2, DType::FP32, DType::BF16, true}};
    header.logits = {7, 3, DType::BF16, 1};
    header.vocabulary = {"a", "", "\xff", "b c", "\n", "é", "g"};
    return header;
}

trace::Sample sample(std::uint32_t number)
{
    trace::Sample sample;
    sample.id = "sample " + std::to_string(number);
    sample.repeat = number;
    sample.category = "letters";
    sample.text = "broken \xe2\x82 text";
    sample.choices = {"one", "two \xff"};
    sample.label = "B";
    sample.replaySource = "reference";
    return sample;
}

std::vector<trace::Token> tokens(std::uint32_t count, std::uint32_t first, bool response)
{
    std::vector<trace::Token> tokens;
    for (std::uint32_t i = first; i < first + count; ++i)
        tokens.push_back({.id = static_cast<std::int32_t>(i % 7),
                          .response = response,
                          .textOffset = static_cast<std::int64_t>(i) - 1,
                          .bytes = i % 3 == 0 ? std::string("\xf0\x9f") : std::string(i % 3, 'x')});
    return tokens;
}

trace::RowBlock block(const trace::RunHeader& header, trace::SampleIndex sample,
                      std::uint32_t position, std::uint32_t count)
{
    trace::RowBlock block;
    for (std::uint32_t i = position; i < position + count; ++i)
        block.rows.push_back({.sample = sample,
                              .position = i,
                              .step = i / 2,
                              .batchSlot = 3,
                              .phase = trace::Phase::Forced,
                              .construction = trace::Construction::Steps,
                              .score = {5, 1.5F, -0.25, 4}});
    for (std::size_t t = 0; t < header.taps.size(); ++t)
        block.values.push_back(
            values(header.taps[t].dtype, std::size_t{header.taps[t].width} * count, position + t));
    const trace::RouterLayer& router = header.routers.front();
    const std::size_t chosen = std::size_t{router.chosen} * count;
    const std::size_t experts = std::size_t{router.experts} * count;
    block.routing.push_back(
        {numbers<std::int32_t>(chosen, position), values(router.weightType, chosen, position),
         values(router.logitType, experts, position), numbers<float>(experts, position)});
    block.topK.ids = numbers<std::int32_t>(std::size_t{header.logits.topK} * count, position);
    block.topK.values = numbers<float>(std::size_t{header.logits.topK} * count, position);
    block.topK.logSumExp = numbers<double>(count, position);
    block.topK.remainingMass = numbers<double>(count, position + 1);
    block.topK.askedIds = numbers<std::int32_t>(count, position);
    block.topK.askedValues = numbers<float>(count, position);
    trace::summariseBlock(header, block);
    return block;
}

} // namespace moire::madeup
