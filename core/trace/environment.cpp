// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/trace/environment.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace moire::trace {

void Environment::set(std::string_view key, Value value)
{
    for (auto& [name, old] : m_fields) {
        if (name == key) {
            old = std::move(value);
            return;
        }
    }
    m_fields.emplace_back(std::string(key), std::move(value));
}

const Environment::Value* Environment::find(std::string_view key) const
{
    for (const auto& [name, value] : m_fields)
        if (name == key)
            return &value;
    return nullptr;
}

std::string Environment::text(std::string_view key) const
{
    const Value* value = find(key);
    return value == nullptr ? std::string() : textOf(*value);
}

std::string textOf(const Environment::Value& value)
{
    if (const auto* text = std::get_if<std::string>(&value))
        return *text;
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return std::to_string(*number);
    if (const auto* flag = std::get_if<bool>(&value))
        return *flag ? "yes" : "no";
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.6g", std::get<double>(value));
    return buffer;
}

bool isIncidental(std::string_view key)
{
    constexpr std::array incidental{env::startTime,    env::endTime,      env::wallSeconds,
                                    env::peakBytes,    env::commandLine,  env::program,
                                    env::replaySource, env::observerCheck};
    return std::find(incidental.begin(), incidental.end(), key) != incidental.end();
}

} // namespace moire::trace
