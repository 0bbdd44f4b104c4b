// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/report/pooled_map.h"

#include <string>

namespace moire::report {

/// Taps × tokens as a figure with its axes, marks (▲ top-1 flips, ◆ route changes, a ring at the
/// first bitwise divergence) and legend.
std::string tapMapFigure(const diff::Report& report, const MapColumns& columns);

/// MoE layers × tokens: share of experts replaced.
std::string routeMapFigure(const diff::Report& report, const trace::Run& reference,
                           const MapColumns& columns);

} // namespace moire::report
