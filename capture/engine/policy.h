// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"
#include "core/base/result.h"
#include "core/numeric/dtype.h"

#include <string>
#include <string_view>

namespace moire::capture {

/// In which dtype a module holds its weights, computes and gives its output. Today one dtype for
/// the whole model; the question is asked per module, so that mixed policies are more answers.
class Policy
{
public:
    /// "bf16", "fp32", or "" for the model's own dtype. Errors: Invalid for another word, or when
    /// the model's own dtype is none of these.
    static Result<Policy> parse(std::string_view word, const ModelPlan& plan);

    const std::string& name() const { return m_name; }
    /// `module`: path of the Hugging Face tree, "model.layers.3.mlp.down_proj".
    numeric::DType dtypeOf(std::string_view module) const;

private:
    Policy(std::string name, numeric::DType dtype)
        : m_name(std::move(name))
        , m_dtype(dtype)
    {}
    std::string m_name;
    numeric::DType m_dtype;
};

} // namespace moire::capture
