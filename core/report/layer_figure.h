// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>

namespace moire::report {

/// Relative L2 by layer on a logarithmic axis with a lane for exact zero: residual stream,
/// attention output and MLP output where recorded, else the worst tap of each layer. Empty when no
/// layer has a value.
std::string layerFigure(const diff::Report& report);

} // namespace moire::report
