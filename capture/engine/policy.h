// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"
#include "core/base/result.h"
#include "core/numeric/dtype.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

struct RunOptions;

/// The dtypes of one module: bf16, fp16 or fp32 each. Its weights are rounded to `weights`; its
/// inputs, and the weights as they are used, are converted to `compute`, in which it rounds and
/// gives its output (POLICIES.md).
struct Precision
{
    numeric::DType weights = numeric::DType::FP32;
    numeric::DType compute = numeric::DType::FP32;

    /// In which dtype to keep the weights: once a narrower dtype computes, no more of them counts.
    numeric::DType held() const
    {
        return numeric::sizeOf(compute) > numeric::sizeOf(weights) ? weights : compute;
    }
    friend bool operator==(const Precision&, const Precision&) = default;
};

/// Modules by pattern (base::globMatches over paths of the Hugging Face tree), and their dtypes.
struct PolicyRule
{
    std::string modules;
    Precision precision;
    std::uint32_t line = 0; ///< of the file, for errors; 0: of none

    friend bool operator==(const PolicyRule& a, const PolicyRule& b)
    {
        return a.modules == b.modules && a.precision == b.precision;
    }
};

/// Rules that somebody wrote: the first that matches a module decides, the last one matches all.
struct PolicyRules
{
    std::string name;
    std::string source; ///< file name, for errors
    std::vector<PolicyRule> rules;
};

/// In which dtypes the modules of a model hold their weights and compute.
class Policy
{
public:
    /// "bf16", "fp16", "fp32", "layercast", "nomlp", "selective:PART+PART…", or "" for the model's
    /// own dtype. Errors: Invalid for another word, for a part that the model does not have;
    /// Unsupported when the model's own dtype is none of these.
    static Result<Policy> parse(std::string_view word, const ModelPlan& plan);
    /// Errors: Invalid names the rule (no catch-all at the end, a pattern that matches no module,
    /// or only modules that earlier rules take).
    static Result<Policy> fromRules(const PolicyRules& rules, const ModelPlan& plan);
    /// The rules of the options where there are any, else their word.
    static Result<Policy> of(const RunOptions& options, const ModelPlan& plan);

    /// The word, its parts in one order; of rules their name.
    const std::string& name() const { return m_name; }
    const std::vector<PolicyRule>& rules() const { return m_rules; }
    /// "*.mlp.gate: fp32; *.mlp.*: bf16; *: fp32 with bf16 weights".
    std::string rulesText() const;

    /// `module`: path of the Hugging Face tree, "model.layers.3.mlp.down_proj".
    Precision precisionOf(std::string_view module) const;
    /// In which it computes and gives its output.
    numeric::DType dtypeOf(std::string_view module) const { return precisionOf(module).compute; }
    /// Whether any module computes in it.
    bool computesIn(numeric::DType dtype) const;

    friend bool operator==(const Policy&, const Policy&) = default;

private:
    Policy(std::string name, std::vector<PolicyRule> rules)
        : m_name(std::move(name))
        , m_rules(std::move(rules))
    {}
    std::string m_name;
    std::vector<PolicyRule> m_rules; ///< the last one is "*"
};

/// Of a sum or product of two modules' outputs: the one of both, fp32 where they differ (as PyTorch
/// promotes).
numeric::DType promoted(numeric::DType a, numeric::DType b);

} // namespace moire::capture
