// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/k_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

namespace moire::capture {

using device::Combine;
using numeric::DType;

namespace {

constexpr auto syntax =
    "Write it as block=64,split=4,combine=tree,partial=fp32; combine is seq, wide or tree, partial "
    "fp32, bf16 or fp16";

Error invalid(std::string sentence)
{
    return {Errc::Invalid, std::move(sentence), {}, syntax};
}

template <class Value>
struct Word
{
    std::string_view word;
    Value value;
};
constexpr std::array combines{Word<Combine>{"seq", Combine::Sequential},
                              Word<Combine>{"wide", Combine::Wide},
                              Word<Combine>{"tree", Combine::Tree}};
constexpr std::array partials{Word<DType>{"fp32", DType::FP32}, Word<DType>{"bf16", DType::BF16},
                              Word<DType>{"fp16", DType::FP16}};

template <class Words, class Value>
bool take(const Words& words, std::string_view word, Value& value)
{
    for (const auto& entry : words) {
        if (entry.word == word) {
            value = entry.value;
            return true;
        }
    }
    return false;
}

template <class Words, class Value>
std::string_view wordOf(const Words& words, Value value)
{
    return std::find_if(words.begin(), words.end(),
                        [&](const auto& entry) { return entry.value == value; })
        ->word;
}

bool takeNumber(std::string_view text, std::uint32_t& number)
{
    constexpr std::uint32_t most = 1U << 24U; // more than any inner index
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number > 0 && number <= most;
}

/// Whether the key is known and the value one that it can have.
enum class Taken
{
    Yes,
    NoKey,
    NoValue
};
Taken takeField(std::string_view key, std::string_view value, KPlan& plan)
{
    const auto known = [](bool taken) { return taken ? Taken::Yes : Taken::NoValue; };
    if (key == "block")
        return known(takeNumber(value, plan.block));
    if (key == "split")
        return known(takeNumber(value, plan.split));
    if (key == "combine")
        return known(take(combines, value, plan.combine));
    if (key == "partial")
        return known(take(partials, value, plan.partial));
    return Taken::NoKey;
}

} // namespace

Result<KPlan> KPlan::parse(std::string_view text)
{
    KPlan plan;
    std::set<std::string_view> seen;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view field = text.substr(0, comma);
        if (comma + 1 == text.size())
            return invalid("the K-plan ends with a comma");
        text.remove_prefix(std::min(text.size(), comma + 1));
        const std::size_t sign = field.find('=');
        if (sign == std::string_view::npos)
            return invalid("'" + std::string(field) + "' in the K-plan has no value");
        const std::string_view key = field.substr(0, sign);
        const std::string_view value = field.substr(sign + 1);
        if (!seen.insert(key).second)
            return invalid("the K-plan names " + std::string(key) + " twice");
        switch (takeField(key, value, plan)) {
        case Taken::Yes:
            break;
        case Taken::NoKey:
            return invalid("a K-plan has no '" + std::string(key) + "'");
        case Taken::NoValue:
            return invalid("'" + std::string(value) + "' is no " + std::string(key)
                           + " of a K-plan");
        }
    }
    return plan;
}

std::string KPlan::text() const
{
    std::string text = block > 0 ? "block=" + std::to_string(block) + ',' : std::string();
    text += "split=" + std::to_string(split) + ",combine=";
    text += wordOf(combines, combine);
    text += ",partial=";
    text += wordOf(partials, partial);
    return text;
}

device::SumPlan KPlan::sumOf(std::uint64_t inputs) const
{
    const auto ceilDivide = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    device::SumPlan plan;
    plan.leaf = block > 0 ? block : ceilDivide(inputs, split);
    plan.group = block > 0 ? ceilDivide(ceilDivide(inputs, block), split) : 1;
    plan.groupType = partial;
    plan.combine = combine;
    return plan;
}

} // namespace moire::capture
