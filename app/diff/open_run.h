// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run.h"

#include <string>

namespace moire::app {

/// The capture in that file. Errors: those of store::MappedRun.
Result<trace::RunPointer> openRun(const std::string& path);

} // namespace moire::app
