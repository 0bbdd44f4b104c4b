// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>

namespace moire::diff::test {

/// Everything in a report as text, numbers to their last bit: equal texts mean equal reports.
std::string dump(const Report& report);

/// One divergence on one line: "s0/3/model.norm.out/2 1.5 (0x3fc0) 1.25 (0x3fa0) 32 ulp carried",
/// or "none".
std::string line(const std::optional<Divergence>& divergence);

} // namespace moire::diff::test
