// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/trace/run.h"

#include <string>

namespace moire::report {

/// Both runs' tokens around `divergence`, one above the other, each with the colour of its row's
/// forward KL (where logits were not compared: of its worst tap). Tokens from the split on are
/// hatched. Markup; empty when the sample has no tokens.
std::string tokenStrip(const diff::Report& report, const trace::Run& reference,
                       const trace::Run& target, const diff::Divergence& divergence);

} // namespace moire::report
