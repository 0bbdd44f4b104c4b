// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/json_value.h"

#include "core/base/text.h"
#include "core/report/number.h"

#include <cmath>

namespace moire::report {

Json numberOf(double value)
{
    constexpr double exactIntegers = 9007199254740992.0; // 2^53
    if (!std::isfinite(value))
        return shortest(value);
    const bool negativeZero = value == 0 && std::signbit(value);
    if (std::trunc(value) == value && std::abs(value) < exactIntegers && !negativeZero)
        return static_cast<std::int64_t>(value);
    return value;
}

std::string stringOf(std::string_view bytes)
{
    return base::validUtf8(bytes);
}

Json environmentObject(const trace::Environment& environment)
{
    Json out = Json::object();
    for (const auto& [key, value] : environment.fields()) {
        Json& place = out[stringOf(key)];
        if (const auto* text = std::get_if<std::string>(&value))
            place = stringOf(*text);
        else if (const auto* number = std::get_if<double>(&value))
            place = numberOf(*number);
        else if (const auto* flag = std::get_if<bool>(&value))
            place = *flag;
        else
            place = std::get<std::int64_t>(value);
    }
    return out;
}

std::string printed(const Json& document)
{
    constexpr int indentation = 2;
    return document.dump(indentation) + '\n';
}

} // namespace moire::report
