// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/alignment.h"
#include "core/trace/run.h"

namespace moire::diff {

/// Fills summary.incomplete…, summary.missing… and appends to summary.remarks, in the order in
/// which the verdict says them: incomplete captures; other architecture, weights, tokenizer;
/// dtypes; construction; log-prob semantics. Reads metadata only; `alignment` holds its pairs
/// already.
void addRemarks(const trace::Run& reference, const trace::Run& target, Alignment& alignment);

} // namespace moire::diff
