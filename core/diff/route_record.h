// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/row_record.h"
#include "core/trace/run.h"

#include <vector>

namespace moire::diff {

/// Compares one MoE layer at one row pair; both layers have the same number of experts and of
/// slots. Padding (id −1) and ids outside the layer are left out. Sums are fp64 in expert order.
RouteRecord compareRoutes(const trace::RouterLayer& referenceLayer,
                          const trace::RoutingView& reference,
                          const trace::RouterLayer& targetLayer, const trace::RoutingView& target);

/// The layer's logits, widened. E values.
std::vector<double> routerLogits(const trace::RouterLayer& layer, const trace::RoutingView& view);

/// What the layer selects by: selection scores where there are any, else the logits. E values.
std::vector<double> selectionOf(const trace::RouterLayer& layer, const trace::RoutingView& view);

/// Gate weight of every expert after normalisation, 0 where it was not chosen. E values.
std::vector<double> weightsOf(const trace::RouterLayer& layer, const trace::RoutingView& view);

/// The chosen experts in slot order, without padding.
std::vector<std::int32_t> chosenOf(const trace::RouterLayer& layer, const trace::RoutingView& view);

} // namespace moire::diff
