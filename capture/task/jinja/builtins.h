// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/task/jinja/syntax.h"

#include <string_view>

namespace moire::capture::jinja {

/// `value | name(arguments)`. Failure names a filter that there is not.
Value applyFilter(Run& run, std::string_view name, const Value& value, const Arguments& arguments);

/// `value is name(arguments)`.
bool applyTest(std::string_view name, const Value& value, const Arguments& arguments);

/// `value.name(…)` of a string or mapping; undefined where there is no such method.
Value methodOf(const Value& value, std::string_view name);

/// What every template can call: namespace, range, dict, raise_exception, strftime_now.
void addFunctions(Scope& scope);

/// `container[key]` or `container.key` of Jinja: undefined where there is nothing.
Value itemOf(const Value& container, const Value& key);

/// `needle in haystack`.
bool contains(const Value& haystack, const Value& needle);

} // namespace moire::capture::jinja
