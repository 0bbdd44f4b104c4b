// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/policy_words.h"

#include "capture/model/module_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace moire::capture {

using numeric::DType;

namespace {

constexpr Precision wide{DType::FP32, DType::FP32};
constexpr std::string_view selectivePrefix = "selective:";
constexpr auto policiesHint =
    "The policies are bf16, fp16, fp32, layercast, nomlp and selective:PART+PART…";
constexpr auto partsHint =
    "The parts are norm, attn, mlp, router, head, embed, firstN and lastN, joined by +";

Error invalid(std::string sentence, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), {}, std::move(hint)};
}

/// What a selective policy computes in fp32.
struct Selection
{
    bool norm = false, attn = false, mlp = false, router = false, head = false, embed = false;
    std::uint32_t first = 0, last = 0;

    /// In one order, whatever order they were given in.
    std::string name() const
    {
        std::string text;
        const auto add = [&](bool chosen, const std::string& part) {
            if (chosen)
                text += (text.empty() ? "" : "+") + part;
        };
        add(norm, "norm");
        add(attn, "attn");
        add(mlp, "mlp");
        add(router, "router");
        add(head, "head");
        add(embed, "embed");
        add(first > 0, "first" + std::to_string(first));
        add(last > 0, "last" + std::to_string(last));
        return std::string(selectivePrefix) + text;
    }
};

/// The number behind "first" or "last", 1 to the model's layers.
Result<std::uint32_t> layerCount(std::string_view part, std::string_view digits,
                                 const ModelPlan& plan)
{
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc() || end != digits.data() + digits.size() || count == 0)
        return invalid("'" + std::string(part) + "' of the selective policy names no layers",
                       "Write the number of layers behind it, as in first8");
    if (count > plan.layers.size())
        return invalid("'" + std::string(part) + "' of the selective policy is more than the "
                           + std::to_string(plan.layers.size()) + " layers of this model",
                       "Take fewer layers");
    return count;
}

Result<void> select(std::string_view part, const ModelPlan& plan, Selection& selection)
{
    const auto twice = [&] {
        return invalid("the selective policy names '" + std::string(part) + "' twice", partsHint);
    };
    using Flag = std::pair<std::string_view, bool Selection::*>;
    constexpr std::array flags{Flag{"norm", &Selection::norm}, Flag{"attn", &Selection::attn},
                               Flag{"mlp", &Selection::mlp},   Flag{"router", &Selection::router},
                               Flag{"head", &Selection::head}, Flag{"embed", &Selection::embed}};
    for (const auto& [name, flag] : flags) {
        if (part != name)
            continue;
        if (std::exchange(selection.*flag, true))
            return twice();
        if (selection.router && !plan.moe)
            return invalid("the selective policy names a router, and this model has none",
                           "Leave router out");
        return {};
    }
    using Count = std::pair<std::string_view, std::uint32_t Selection::*>;
    for (const auto& [name, count] :
         {Count{"first", &Selection::first}, Count{"last", &Selection::last}}) {
        if (!part.starts_with(name))
            continue;
        const auto layers = layerCount(part, part.substr(name.size()), plan);
        if (!layers)
            return layers.error();
        if (std::exchange(selection.*count, *layers) > 0)
            return twice();
        return {};
    }
    return invalid("the selective policy does not know the part '" + std::string(part) + "'",
                   partsHint);
}

Result<Selection> parseSelection(std::string_view parts, const ModelPlan& plan)
{
    Selection selection;
    for (std::size_t begin = 0; begin <= parts.size();) {
        const std::size_t end = std::min(parts.find('+', begin), parts.size());
        if (auto done = select(parts.substr(begin, end - begin), plan, selection); !done)
            return done.error();
        begin = end + 1;
    }
    return selection;
}

/// Puts the rules together; a later one never overrides an earlier one.
class RuleList
{
public:
    void add(std::string modules, Precision precision)
    {
        m_rules.push_back({std::move(modules), precision, 0});
    }
    /// A module by its own name wherever it stands; "" is none.
    void addNamed(std::string_view module, Precision precision)
    {
        if (!module.empty())
            add("*." + std::string(module), precision);
    }
    std::vector<PolicyRule> take() { return std::move(m_rules); }

private:
    std::vector<PolicyRule> m_rules;
};

std::vector<PolicyRule> rulesOf(const Selection& s, const ModelPlan& plan, Precision narrow)
{
    const ModuleNames& names = moduleNames(plan.names);
    RuleList rules;
    for (std::size_t i = 0; i < plan.layers.size(); ++i)
        if (i < s.first || i >= plan.layers.size() - s.last)
            rules.add(layerPath(plan.names, i) + ".*", wide);
    // Tables made in fp32 round to each narrower attention once, as its own would.
    if ((s.attn || s.first > 0 || s.last > 0) && !names.rotary.empty())
        rules.add(std::string(names.rotary), wide);
    if (s.router != s.mlp)
        rules.add("*.mlp.gate", s.router ? wide : narrow);
    if (s.norm) {
        for (const std::string_view norm :
             {names.inputNorm, names.postNorm, names.mlpNorm, names.qNorm, names.kNorm})
            rules.addNamed(norm, wide);
        rules.add(std::string(names.finalNorm), wide);
    }
    if (s.attn) {
        rules.addNamed(names.attention, wide);
        rules.addNamed(std::string(names.attention) + ".*", wide);
    }
    if (s.mlp)
        rules.add("*.mlp.*", wide);
    if (s.head)
        rules.add("lm_head", wide);
    if (s.embed) {
        rules.add(std::string(names.embedding), wide);
        if (!names.positions.empty())
            rules.add(std::string(names.positions), wide);
    }
    rules.add("*", narrow);
    return rules.take();
}

} // namespace

DType narrowDType(const ModelPlan& plan)
{
    return plan.dtype == DType::FP16 ? DType::FP16 : DType::BF16;
}

bool isPolicyWord(std::string_view word)
{
    constexpr std::array<std::string_view, 5> words{"bf16", "fp16", "fp32", "layercast", "nomlp"};
    return std::find(words.begin(), words.end(), word) != words.end()
           || word.starts_with(selectivePrefix);
}

Result<PolicyRules> rulesOfWord(std::string_view word, const ModelPlan& plan)
{
    const Precision narrow{narrowDType(plan), narrowDType(plan)};
    for (const DType dtype : {DType::BF16, DType::FP16, DType::FP32})
        if (word == numeric::nameOf(dtype))
            return PolicyRules{std::string(word), {}, {{"*", {dtype, dtype}, 0}}};
    if (word == "layercast")
        return PolicyRules{std::string(word), {}, {{"*", {narrow.weights, DType::FP32}, 0}}};
    if (word == "nomlp")
        return PolicyRules{std::string(word),
                           {},
                           {{"*.mlp.gate", wide, 0}, {"*.mlp.*", narrow, 0}, {"*", wide, 0}}};
    if (word.starts_with(selectivePrefix)) {
        const auto selection = parseSelection(word.substr(selectivePrefix.size()), plan);
        if (!selection)
            return selection.error();
        return PolicyRules{selection->name(), {}, rulesOf(*selection, plan, narrow)};
    }
    return invalid("unknown policy '" + std::string(word) + "'",
                   word.starts_with("selective") ? partsHint : policiesHint);
}

} // namespace moire::capture
