// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/environment.h"

#include <string_view>

namespace moire::diff {

/// What some captures say of their weights besides the digest, which is of the bits as loaded: the
/// same weights in another dtype have another digest.
inline constexpr std::string_view weightValuesKey = "model.weight_values"; ///< digest in fp32
inline constexpr std::string_view weightTypeKey = "model.weight_dtype";    ///< "bf16"

enum class WeightsDiffer
{
    No,            ///< or one of the runs does not know
    InType,        ///< the same values, stored in another dtype
    InTypeAtLeast, ///< stored in another dtype, whether with the same values is not known
    InValues
};
WeightsDiffer weightsDiffer(const trace::Environment& reference, const trace::Environment& target);

} // namespace moire::diff
