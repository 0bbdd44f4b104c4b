// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace moire::capture {

/// Bytes of this process that are in memory now, 0 when the system does not say.
std::uint64_t residentBytes();

/// Whether less than a tenth of the machine's memory could still be had; false when the system does
/// not say.
bool isMemoryShort();

} // namespace moire::capture
