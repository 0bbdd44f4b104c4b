// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/policy.h"

#include "core/numeric/dtype.h"

namespace moire::capture {

using numeric::DType;

Result<Policy> Policy::parse(std::string_view word, const ModelPlan& plan)
{
    const std::string name(word.empty() ? numeric::nameOf(plan.dtype) : word);
    if (name == "bf16")
        return Policy(name, DType::BF16);
    if (name == "fp32")
        return Policy(name, DType::FP32);
    if (word.empty())
        return Error{Errc::Unsupported,
                     "the model's own dtype is " + name + ", which no policy of this version runs",
                     plan.name, "Choose --policy bf16 or --policy fp32"};
    return Error{
        Errc::Invalid, "unknown policy '" + name + "'", {}, "The policies are bf16 and fp32"};
}

DType Policy::dtypeOf(std::string_view /*module*/) const
{
    return m_dtype;
}

} // namespace moire::capture
