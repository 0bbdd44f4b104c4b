// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace moire::capture {

/// GPT-2's spelling of bytes as printable characters: a byte that Latin-1 prints stands for
/// itself, the other 68 are U+0100 … U+0143 in ascending order (space is U+0120).
/// Nothing when `spelling` holds a character outside that alphabet.
std::optional<std::string> bytesFromSpelling(std::string_view spelling);

/// The spelling of raw bytes.
std::string spellingOfBytes(std::string_view bytes);

} // namespace moire::capture
