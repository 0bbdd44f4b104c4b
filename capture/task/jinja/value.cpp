// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/jinja/value.h"

#include "capture/task/jinja/characters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace moire::capture::jinja {

const Value* Dict::find(std::string_view key) const
{
    const auto it = std::find_if(entries.begin(), entries.end(),
                                 [&](const auto& entry) { return entry.first == key; });
    return it == entries.end() ? nullptr : &it->second;
}

void Dict::set(std::string_view key, Value value)
{
    for (auto& [name, held] : entries)
        if (name == key) {
            held = std::move(value);
            return;
        }
    entries.emplace_back(key, std::move(value));
}

const Value* Arguments::find(std::size_t place, std::string_view name) const
{
    if (place < positional.size())
        return &positional[place];
    for (const auto& [key, value] : named)
        if (key == name)
            return &value;
    return nullptr;
}

Value::Value(List value)
{
    for (const Value& part : value)
        take(part);
    m_content = std::make_shared<const List>(std::move(value));
}

Value::Value(Dict value)
    : m_holdsNamespace(value.isNamespace)
{
    for (const auto& [key, part] : value.entries)
        take(part);
    m_content = std::make_shared<Dict>(std::move(value));
}

Value::Value(Function value)
    : m_content(std::make_shared<const Function>(std::move(value)))
{}

Value::Value(Function value, const Value& kept)
    : Value(std::move(value))
{
    take(kept);
}

void Value::take(const Value& part)
{
    constexpr unsigned deepest = 100;
    m_depth = std::max(m_depth, part.m_depth + 1);
    m_holdsNamespace = m_holdsNamespace || part.m_holdsNamespace;
    if (m_depth > deepest)
        throw Failure("the template puts values within values more than 100 deep");
}

const List* Value::list() const
{
    const auto* held = std::get_if<std::shared_ptr<const List>>(&m_content);
    return held == nullptr ? nullptr : held->get();
}

Dict* Value::dict() const
{
    const auto* held = std::get_if<std::shared_ptr<Dict>>(&m_content);
    return held == nullptr ? nullptr : held->get();
}

const Function* Value::function() const
{
    const auto* held = std::get_if<std::shared_ptr<const Function>>(&m_content);
    return held == nullptr ? nullptr : held->get();
}

std::int64_t Value::integer() const
{
    const bool* flag = std::get_if<bool>(&m_content);
    return flag != nullptr ? std::int64_t{*flag} : std::get<std::int64_t>(m_content);
}

double Value::number() const
{
    return isInteger() ? static_cast<double>(integer()) : std::get<double>(m_content);
}

std::size_t Value::weight() const
{
    constexpr std::size_t bytesPerStep = 16;
    if (const auto* string = text())
        return string->size() / bytesPerStep;
    if (const List* values = list())
        return values->size();
    return dict() == nullptr ? 0 : dict()->entries.size();
}

bool Value::truth() const
{
    if (isNumber())
        return number() != 0;
    if (const auto* string = text())
        return !string->empty();
    if (const List* values = list())
        return !values->empty();
    if (const Dict* fields = dict())
        return fields->isNamespace || !fields->entries.empty();
    return function() != nullptr;
}

std::string Value::kind() const
{
    if (const auto* missing = std::get_if<Undefined>(&m_content))
        return "undefined" + (missing->name.empty() ? "" : " (" + missing->name + ')');
    if (const Dict* fields = dict(); fields != nullptr && fields->isNamespace)
        return "a namespace";
    constexpr std::array names{"undefined", "none",   "a boolean", "a whole number", "a number",
                               "a string",  "a list", "a mapping", "a function"};
    return names[m_content.index()];
}

bool equal(const Value& a, const Value& b)
{
    if (a.isNumber() && b.isNumber())
        return a.isInteger() && b.isInteger() ? a.integer() == b.integer()
                                              : a.number() == b.number();
    if (a.text() != nullptr && b.text() != nullptr)
        return *a.text() == *b.text();
    if (a.list() != nullptr && b.list() != nullptr)
        return std::equal(a.list()->begin(), a.list()->end(), b.list()->begin(), b.list()->end(),
                          equal);
    if (a.dict() != nullptr && b.dict() != nullptr) {
        if (a.dict()->isNamespace || b.dict()->isNamespace)
            return a.dict() == b.dict();
        const auto& entries = a.dict()->entries;
        return entries.size() == b.dict()->entries.size()
               && std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
                      const Value* other = b.dict()->find(entry.first);
                      return other != nullptr && equal(entry.second, *other);
                  });
    }
    return (a.isNone() && b.isNone()) || (a.isUndefined() && b.isUndefined())
           || (a.function() != nullptr && a.function() == b.function());
}

bool less(const Value& a, const Value& b)
{
    if (a.isNumber() && b.isNumber())
        return a.isInteger() && b.isInteger() ? a.integer() < b.integer() : a.number() < b.number();
    if (a.text() != nullptr && b.text() != nullptr)
        return *a.text() < *b.text(); // the order of UTF-8 bytes is that of code points
    throw Failure("cannot order " + a.kind() + " and " + b.kind());
}

namespace {

/// Python's repr of a float: the shortest digits that give it back.
std::string floatText(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    constexpr double scientificFrom = 1e16;
    constexpr double scientificBelow = 1e-4;
    constexpr std::size_t longest = 32; // 17 digits, sign, point, exponent
    std::array<char, longest> buffer{};
    const double size = std::abs(value);
    const bool scientific = size != 0 && (size >= scientificFrom || size < scientificBelow);
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                      scientific ? std::chars_format::scientific : std::chars_format::fixed);
    std::string text(buffer.data(), end.ptr);
    return scientific || text.find('.') != std::string::npos ? text : text + ".0";
}

std::string pythonQuoted(const std::string& text)
{
    const char quote =
        text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
    std::string out(1, quote);
    for (const char c : text) {
        if (c == quote || c == '\\')
            out += '\\';
        out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : std::string(1, c);
    }
    return out + quote;
}

std::string jsonQuoted(const std::string& text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        constexpr std::string_view escaped = "\"\\\n\r\t\b\f";
        constexpr std::string_view letters = "\"\\nrtbf";
        if (const auto at = escaped.find(c); at != std::string_view::npos)
            (out += '\\') += letters[at];
        else if (code < 0x20)
            ((out += "\\u00") += digits[code >> 4U]) += digits[code & 0xFU];
        else
            out += c;
    }
    return out + '"';
}

std::string represented(const Value& value)
{
    if (value.isUndefined())
        return "Undefined";
    return value.text() != nullptr ? pythonQuoted(*value.text()) : shown(value);
}

template <class Entries, class Write>
std::string bracketed(const Entries& entries, std::string_view brackets, int indent, int depth,
                      Write write)
{
    if (entries.empty())
        return std::string(brackets);
    const auto line = [&](int levels) {
        return indent < 0 ? std::string() : '\n' + std::string(std::size_t(indent * levels), ' ');
    };
    std::string out(1, brackets[0]);
    bool first = true;
    for (const auto& entry : entries) {
        if (!first)
            out += indent < 0 ? ", " : ",";
        first = false;
        out += line(depth + 1) + write(entry);
    }
    return out + line(depth) + brackets[1];
}

std::string jsonAt(const Value& value, int indent, int depth)
{
    if (value.isNone())
        return "null";
    if (value.isBool())
        return value.truth() ? "true" : "false";
    if (value.isNumber())
        return shown(value);
    if (const auto* text = value.text())
        return jsonQuoted(*text);
    if (const List* list = value.list())
        return bracketed(*list, "[]", indent, depth,
                         [&](const Value& entry) { return jsonAt(entry, indent, depth + 1); });
    if (const Dict* dict = value.dict(); dict != nullptr && !dict->isNamespace)
        return bracketed(dict->entries, "{}", indent, depth, [&](const auto& entry) {
            return jsonQuoted(entry.first) + ": " + jsonAt(entry.second, indent, depth + 1);
        });
    throw Failure(value.kind() + " has no JSON form");
}

} // namespace

std::string shown(const Value& value)
{
    if (const auto* text = value.text())
        return *text;
    if (value.isUndefined())
        return {};
    if (value.isNone())
        return "None";
    if (value.isBool())
        return value.truth() ? "True" : "False";
    if (value.isInteger())
        return std::to_string(value.integer());
    if (value.isNumber())
        return floatText(value.number());
    if (const List* list = value.list())
        return bracketed(*list, "[]", -1, 0, represented);
    if (const Dict* dict = value.dict(); dict != nullptr && !dict->isNamespace)
        return bracketed(dict->entries, "{}", -1, 0, [](const auto& entry) {
            return pythonQuoted(entry.first) + ": " + represented(entry.second);
        });
    throw Failure(value.kind() + " has no text");
}

std::string json(const Value& value, int indent)
{
    return jsonAt(value, indent, 0);
}

List elements(const Value& value)
{
    if (value.isUndefined())
        return {};
    if (const List* list = value.list())
        return *list;
    List out;
    if (const Dict* dict = value.dict(); dict != nullptr && !dict->isNamespace) {
        for (const auto& entry : dict->entries)
            out.emplace_back(entry.first);
        return out;
    }
    if (value.text() == nullptr)
        throw Failure(value.kind() + " has no elements to go through");
    for (const std::string_view character : characters(*value.text()))
        out.emplace_back(std::string(character));
    return out;
}

} // namespace moire::capture::jinja
