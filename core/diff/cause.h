// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"
#include "core/diff/report.h"

namespace moire::diff {

/// Why the runs differ, as far as their captures tell: the rules "inputs", "construction",
/// "introduced", "tensor-parallel", "precision", "routing", "accumulation", "noise floor",
/// "selection" and "unexplained" in this order, each with what it saw. The first that explains the
/// difference is report.cause and stands first among the findings; "introduced" says where and
/// explains nothing. From a report that has its first divergences and measures; leaves it alone
/// when nothing differs.
void addCause(const FoldView& view, Report& report);

} // namespace moire::diff
