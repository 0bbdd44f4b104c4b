// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/policy.h"

#include "capture/engine/policy_modules.h"
#include "capture/engine/policy_words.h"
#include "capture/engine/runner.h"
#include "core/base/text.h"

#include <algorithm>

namespace moire::capture {

using numeric::DType;

namespace {

const PolicyRule& ruleOf(const std::vector<PolicyRule>& rules, std::string_view module)
{
    const auto found = std::find_if(rules.begin(), rules.end(), [&](const PolicyRule& rule) {
        return base::globMatches(rule.modules, module);
    });
    return found == rules.end() ? rules.back() : *found;
}

/// Of each rule, the modules that it decides.
std::vector<std::size_t> decided(const std::vector<PolicyRule>& rules,
                                 const std::vector<std::string>& modules)
{
    std::vector<std::size_t> counts(rules.size(), 0);
    for (const std::string& module : modules)
        ++counts[static_cast<std::size_t>(&ruleOf(rules, module) - rules.data())];
    return counts;
}

/// Drops what decides nothing; the last rule stays.
std::vector<PolicyRule> trimmed(const std::vector<PolicyRule>& rules, const ModelPlan& plan)
{
    const auto counts = decided(rules, policyModules(plan));
    std::vector<PolicyRule> kept;
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (counts[i] > 0 || i + 1 == rules.size())
            kept.push_back(rules[i]);
    return kept;
}

Error ruleError(const PolicyRules& policy, const PolicyRule* rule, std::string sentence,
                std::string hint)
{
    std::string place = policy.source;
    if (rule != nullptr && rule->line > 0)
        place += ", line " + std::to_string(rule->line);
    return {Errc::Invalid, std::move(sentence), std::move(place), std::move(hint)};
}

} // namespace

Result<Policy> Policy::parse(std::string_view word, const ModelPlan& plan)
{
    const std::string name(word.empty() ? numeric::nameOf(plan.dtype) : word);
    auto rules = rulesOfWord(name, plan);
    if (!rules && word.empty())
        return Error{Errc::Unsupported,
                     "the model's own dtype is " + name + ", which no policy of this version runs",
                     plan.name, "Choose --policy bf16, fp16 or fp32"};
    if (!rules)
        return rules.error();
    return Policy(std::move(rules->name), trimmed(rules->rules, plan));
}

Result<Policy> Policy::fromRules(const PolicyRules& rules, const ModelPlan& plan)
{
    if (rules.rules.empty() || rules.rules.back().modules != "*")
        return ruleError(rules, rules.rules.empty() ? nullptr : &rules.rules.back(),
                         "the last rule of the policy does not match every module",
                         "End with a rule for \"*\"");
    const auto modules = policyModules(plan);
    const auto counts = decided(rules.rules, modules);
    for (std::size_t i = 0; i + 1 < rules.rules.size(); ++i) {
        if (counts[i] > 0)
            continue;
        const PolicyRule& rule = rules.rules[i];
        const bool matches =
            std::any_of(modules.begin(), modules.end(), [&](const std::string& module) {
                return base::globMatches(rule.modules, module);
            });
        return ruleError(rules, &rule,
                         matches ? "the rule for '" + rule.modules
                                       + "' never counts: earlier rules match all its modules"
                                 : "no module of this model matches '" + rule.modules + "'",
                         matches ? "Put it before them, or leave it out"
                                 : "The modules are those of: moire-capture taps MODEL, without "
                                   "their endings .in and .out");
    }
    return Policy(rules.name, rules.rules);
}

Result<Policy> Policy::of(const RunOptions& options, const ModelPlan& plan)
{
    return options.policyRules ? fromRules(*options.policyRules, plan)
                               : parse(options.policy, plan);
}

std::string Policy::rulesText() const
{
    std::string text;
    for (const PolicyRule& rule : m_rules) {
        if (!text.empty())
            text += "; ";
        text += rule.modules + ": ";
        text += numeric::nameOf(rule.precision.compute);
        if (rule.precision.weights != rule.precision.compute) {
            text += " with ";
            text += numeric::nameOf(rule.precision.weights);
            text += " weights";
        }
    }
    return text;
}

Precision Policy::precisionOf(std::string_view module) const
{
    return ruleOf(m_rules, module).precision;
}

bool Policy::computesIn(DType dtype) const
{
    return std::any_of(m_rules.begin(), m_rules.end(),
                       [&](const PolicyRule& rule) { return rule.precision.compute == dtype; });
}

DType promoted(DType a, DType b)
{
    return a == b ? a : DType::FP32;
}

} // namespace moire::capture
