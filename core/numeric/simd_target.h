// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace moire::numeric {

/// The instruction sets that the kernels of numeric and capture/device were compiled for and that
/// this processor has, best first: "AVX2", "SSE4", …, "EMU128" (plain C++).
std::vector<std::string> availableSimdTargets();

/// The one in use.
std::string currentSimdTarget();

/// Forces one of availableSimdTargets() for the whole process, "" returns to the best. For tests
/// and measurements: not while a kernel runs. False when there is no such target.
bool forceSimdTarget(std::string_view name);

} // namespace moire::numeric
