// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/simd_target.h"

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numeric/simd_target.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {
std::int64_t dispatchedTarget()
{
    return HWY_TARGET;
}
} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::numeric {

HWY_EXPORT(dispatchedTarget);

namespace {

// foreach_target compiles for these; a processor may lack some of them.
std::vector<std::int64_t> usableTargets()
{
    hwy::SetSupportedTargetsForTest(0);
    return hwy::SupportedAndGeneratedTargets();
}

} // namespace

std::vector<std::string> availableSimdTargets()
{
    const std::string forced = currentSimdTarget();
    std::vector<std::string> names;
    for (const std::int64_t target : usableTargets())
        names.emplace_back(hwy::TargetName(target));
    if (forced != names.front())
        forceSimdTarget(forced);
    return names;
}

std::string currentSimdTarget()
{
    return hwy::TargetName(HWY_DYNAMIC_DISPATCH(dispatchedTarget)());
}

bool forceSimdTarget(std::string_view name)
{
    const auto targets = usableTargets();
    if (name.empty())
        return true;
    for (const std::int64_t target : targets) {
        if (name == hwy::TargetName(target)) {
            hwy::SetSupportedTargetsForTest(target);
            return true;
        }
    }
    return false;
}

} // namespace moire::numeric
#endif
