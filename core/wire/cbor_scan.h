// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>

namespace moire::wire {

/// Walks one CBOR item that must fill `cbor`, without recursion and without taking memory, before a
/// decoder is let near it. Errors: Damaged with the byte offset: cut short, bytes behind the item,
/// nested deeper than maxNesting, more than `maxItems` items, an indefinite length, a tag, a simple
/// value other than false, true and null, text that is not UTF-8.
Result<void> scanCbor(std::span<const std::byte> cbor, std::size_t maxItems);

} // namespace moire::wire
