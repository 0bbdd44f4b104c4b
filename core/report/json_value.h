// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/environment.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

/// What every JSON document of ours has in common: keys in the order written, valid UTF-8, numbers
/// that read back equal.
namespace moire::report {

using Json = nlohmann::ordered_json;

/// A number; whole ones without a decimal point, −0 and what is not finite excepted (see
/// jsonText).
Json numberOf(double value);
/// Bytes as valid UTF-8 (broken parts become U+FFFD).
std::string stringOf(std::string_view bytes);
Json environmentObject(const trace::Environment& environment);
/// Two blanks of indentation, a line break at the end. What a terminal or an editor would act on
/// instead of showing it (DEL, C1 controls, bidirectional marks, line separators) is written
/// \uXXXX, which reads back as the same text.
std::string printed(const Json& document);

} // namespace moire::report
