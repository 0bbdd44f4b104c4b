// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run.h"

namespace moire::diff {

/// True when both hold one and the same execution: one is a copy of the other's file. Known only
/// where they say when they started: then two executions, whose bits may well be equal, differ in
/// their times. Environments, taps, samples, tokens and all digests are compared; reads no value.
bool holdSameRun(const trace::Run& a, const trace::Run& b);

} // namespace moire::diff
