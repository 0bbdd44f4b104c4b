// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

/// The program's own operator new, which counts. One thread.
namespace moire::counted {

std::size_t memoryInUse();
/// The most that was in use since resetPeak().
std::size_t memoryPeak();
void resetPeak();

} // namespace moire::counted
