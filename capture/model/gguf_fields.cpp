// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/gguf_fields.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace moire::capture {

namespace {

double shortestDecimal(float value)
{
    constexpr std::size_t longest = 32;
    std::array<char, longest> text{};
    const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
    double decimal = value;
    std::from_chars(text.data(), written.ptr, decimal);
    return decimal;
}

} // namespace

GgufFields::GgufFields(const GgufFile& file, std::string prefix)
    : m_file(file)
    , m_prefix(std::move(prefix))
{}

void GgufFields::fail(Errc code, std::string sentence, std::string hint)
{
    if (!m_error)
        m_error = Error{code, std::move(sentence), m_file.place(), std::move(hint)};
}

void GgufFields::failType(std::string_view key, const std::string& wanted)
{
    fail(Errc::Damaged, "the value of " + m_prefix + std::string(key) + " is not " + wanted,
         "Fetch the file again, or convert the model with a current llama.cpp");
}

Result<void> GgufFields::status() const
{
    if (m_error)
        return *m_error;
    return {};
}

const GgufValue* GgufFields::find(std::string_view key) const
{
    return m_error ? nullptr : m_file.find(m_prefix + std::string(key));
}

const GgufValue* GgufFields::require(std::string_view key)
{
    const GgufValue* value = find(key);
    if (value == nullptr)
        fail(Errc::Damaged, "has no metadata " + m_prefix + std::string(key),
             "Fetch the file again, or convert the model with a current llama.cpp");
    return value;
}

std::uint32_t GgufFields::countOr(std::string_view key, std::uint32_t fallback, std::uint32_t low,
                                  std::uint32_t high)
{
    const GgufValue* value = find(key);
    if (value == nullptr)
        return fallback;
    const auto number = unsignedOf(*value);
    if (!number || *number < low || *number > high) {
        failType(key, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
        return low;
    }
    return static_cast<std::uint32_t>(*number);
}

std::uint32_t GgufFields::count(std::string_view key, std::uint32_t low, std::uint32_t high)
{
    return require(key) == nullptr ? low : countOr(key, low, low, high);
}

double GgufFields::positiveOr(std::string_view key, double fallback)
{
    const GgufValue* value = find(key);
    if (value == nullptr)
        return fallback;
    auto number = numberOf(*value);
    // A converter rounded the configuration's decimal to fp32; the shortest decimal that rounds so
    // is what it read: 1e-05, and not 9.999999747378752e-06.
    if (number && value->kind == GgufKind::F32)
        number = shortestDecimal(static_cast<float>(*number));
    if (!number || !(*number > 0) || !std::isfinite(*number)) {
        failType(key, "a number above 0");
        return 1.0;
    }
    return *number;
}

double GgufFields::positive(std::string_view key)
{
    return require(key) == nullptr ? 1.0 : positiveOr(key, 1.0);
}

bool GgufFields::flagOr(std::string_view key, bool fallback)
{
    const GgufValue* value = find(key);
    if (value == nullptr)
        return fallback;
    const auto flag = flagOf(*value);
    if (!flag)
        failType(key, "true or false");
    return flag.value_or(fallback);
}

std::string GgufFields::textOr(std::string_view key, std::string fallback)
{
    const GgufValue* value = find(key);
    if (value == nullptr)
        return fallback;
    const auto text = textOf(*value);
    if (!text)
        failType(key, "a string");
    return std::string(text.value_or(std::string_view()));
}

std::string GgufFields::text(std::string_view key)
{
    return require(key) == nullptr ? std::string() : textOr(key, {});
}

} // namespace moire::capture
