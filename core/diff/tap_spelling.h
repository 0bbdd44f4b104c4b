// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace moire::diff {

/// The whole name of a tap, or pattern of names, of which people leave out a leading "model." and
/// the ending. `exists` tells whether there is a tap of a name or like a pattern. What is there as
/// written is meant so, then with "model." in front; without an ending ".out" and ".in" are looked
/// for, and only one of them may be there. None: no tap, or more than one, is meant.
std::optional<std::string> spelledOut(std::string_view written,
                                      const std::function<bool(const std::string&)>& exists);

} // namespace moire::diff
