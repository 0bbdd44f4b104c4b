// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/weight_fields.h"

namespace moire::diff {

WeightsDiffer weightsDiffer(const trace::Environment& reference, const trace::Environment& target)
{
    const auto known = [&](std::string_view key) {
        return !reference.text(key).empty() && !target.text(key).empty();
    };
    const auto same = [&](std::string_view key) { return reference.text(key) == target.text(key); };
    if (!known(trace::env::weightDigest) || same(trace::env::weightDigest))
        return WeightsDiffer::No;
    if (known(weightValuesKey))
        return same(weightValuesKey) ? WeightsDiffer::InType : WeightsDiffer::InValues;
    return known(weightTypeKey) && !same(weightTypeKey) ? WeightsDiffer::InTypeAtLeast
                                                        : WeightsDiffer::InValues;
}

} // namespace moire::diff
