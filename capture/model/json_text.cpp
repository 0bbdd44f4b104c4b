// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/json_text.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace moire::capture {

namespace {

using nlohmann::json;

constexpr std::size_t longestQuote = 40; ///< characters of a wrong value that a message shows

/// Thrown out of the parser's callback, caught in parseJson().
struct Refusal
{
    std::string sentence;
};

/// Refuses nesting and repeated keys while the parser runs, before they cost memory.
class Watch
{
public:
    explicit Watch(int maxDepth)
        : m_maxDepth(maxDepth)
    {}

    bool operator()(int depth, json::parse_event_t event, json& parsed)
    {
        switch (event) {
        case json::parse_event_t::object_start:
            m_keys.emplace_back();
            checkDepth(depth);
            break;
        case json::parse_event_t::array_start:
            checkDepth(depth);
            break;
        case json::parse_event_t::key:
            if (!m_keys.back().insert(parsed.get_ref<const std::string&>()).second)
                throw Refusal{"has the key \"" + parsed.get_ref<const std::string&>()
                              + "\" twice in one object"};
            break;
        case json::parse_event_t::object_end:
            m_keys.pop_back();
            break;
        default:
            break;
        }
        return true;
    }

private:
    void checkDepth(int depth) const
    {
        if (depth >= m_maxDepth)
            throw Refusal{"is nested more than " + std::to_string(m_maxDepth) + " levels deep"};
    }

    int m_maxDepth;
    std::vector<std::set<std::string>> m_keys;
};

std::string quote(const json& value)
{
    if (value.is_object())
        return "an object";
    if (value.is_array())
        return value.empty() ? "an empty list" : "a list";
    std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    if (text.size() > longestQuote)
        text = text.substr(0, longestQuote) + "…";
    return text;
}

} // namespace

Result<json> parseJson(std::string_view text, const std::string& place, int maxDepth)
{
    try {
        return json::parse(text.begin(), text.end(), Watch(maxDepth));
    } catch (const Refusal& refusal) {
        return Error{Errc::Damaged, refusal.sentence, place, "Fetch the file again"};
    } catch (const json::parse_error& error) {
        return Error{Errc::Damaged, "is not JSON (at byte " + std::to_string(error.byte) + ")",
                     place, "Fetch the file again"};
    } catch (const json::exception&) {
        return Error{Errc::Damaged, "is not JSON: a number is out of range", place,
                     "Fetch the file again"};
    }
}

JsonFields::JsonFields(const json& object, std::string place, std::string prefix)
    : m_object(object)
    , m_place(std::move(place))
    , m_prefix(std::move(prefix))
{
    if (!object.is_object())
        fail(Errc::Damaged, m_prefix.empty() ? "holds no JSON object"
                                             : m_prefix.substr(0, m_prefix.rfind('.')) + " is "
                                                   + quote(object) + " and not an object");
}

void JsonFields::fail(Errc code, std::string sentence, std::string hint)
{
    if (!m_error)
        m_error = Error{code, std::move(sentence), m_place, std::move(hint)};
}

void JsonFields::failType(std::string_view key, const json& value, const std::string& wanted)
{
    fail(Errc::Damaged, m_prefix + std::string(key) + " is " + quote(value) + " and not " + wanted);
}

Result<void> JsonFields::status() const
{
    if (m_error)
        return *m_error;
    return {};
}

const json* JsonFields::find(std::string_view key) const
{
    if (m_error)
        return nullptr;
    const auto it = m_object.find(key);
    return it == m_object.end() || it->is_null() ? nullptr : &*it;
}

bool JsonFields::has(std::string_view key) const
{
    return find(key) != nullptr;
}

bool JsonFields::names(std::string_view key) const
{
    return m_object.is_object() && m_object.contains(key);
}

const json* JsonFields::require(std::string_view key)
{
    const json* value = find(key);
    if (value == nullptr)
        fail(Errc::Damaged, "has no key " + m_prefix + std::string(key));
    return value;
}

std::uint32_t JsonFields::countFrom(std::string_view key, const json& value, std::uint32_t low,
                                    std::uint32_t high)
{
    const std::string wanted =
        "an integer from " + std::to_string(low) + " to " + std::to_string(high);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < low
        || value.get<std::uint64_t>() > high) {
        failType(key, value, wanted);
        return low;
    }
    return static_cast<std::uint32_t>(value.get<std::uint64_t>());
}

std::uint32_t JsonFields::count(std::string_view key, std::uint32_t low, std::uint32_t high)
{
    const json* value = require(key);
    return value == nullptr ? low : countFrom(key, *value, low, high);
}

std::uint32_t JsonFields::countOr(std::string_view key, std::uint32_t fallback, std::uint32_t low,
                                  std::uint32_t high)
{
    const json* value = find(key);
    return value == nullptr ? fallback : countFrom(key, *value, low, high);
}

double JsonFields::positiveFrom(std::string_view key, const json& value)
{
    if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>())) {
        failType(key, value, "a number above 0");
        return 1.0;
    }
    return value.get<double>();
}

double JsonFields::positive(std::string_view key)
{
    const json* value = require(key);
    return value == nullptr ? 1.0 : positiveFrom(key, *value);
}

double JsonFields::positiveOr(std::string_view key, double fallback)
{
    const json* value = find(key);
    return value == nullptr ? fallback : positiveFrom(key, *value);
}

bool JsonFields::flagOr(std::string_view key, bool fallback)
{
    const json* value = find(key);
    if (value == nullptr)
        return fallback;
    if (!value->is_boolean()) {
        failType(key, *value, "true or false");
        return fallback;
    }
    return value->get<bool>();
}

std::string JsonFields::textFrom(std::string_view key, const json& value)
{
    if (!value.is_string()) {
        failType(key, value, "a string");
        return {};
    }
    return value.get<std::string>();
}

std::string JsonFields::text(std::string_view key)
{
    const json* value = require(key);
    return value == nullptr ? std::string() : textFrom(key, *value);
}

std::string JsonFields::textOr(std::string_view key, std::string fallback)
{
    const json* value = find(key);
    return value == nullptr ? fallback : textFrom(key, *value);
}

} // namespace moire::capture
