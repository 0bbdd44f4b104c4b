// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/jinja/builtins.h"
#include "capture/task/jinja/characters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>

namespace moire::capture::jinja {

namespace {

using Arg = const Arguments&;

const std::string& textOf(const Value& value, std::string_view user)
{
    if (value.text() == nullptr)
        throw Failure(std::string(user) + " needs a string and not " + value.kind());
    return *value.text();
}

Value argument(Arg arguments, std::size_t place, std::string_view name, Value fallback)
{
    const Value* given = arguments.find(place, name);
    return given == nullptr ? std::move(fallback) : *given;
}

std::int64_t integerOf(const Value& value, std::string_view user)
{
    if (!value.isInteger())
        throw Failure(std::string(user) + " needs a whole number and not " + value.kind());
    return value.integer();
}

/// Refuses the named arguments that a filter of ours has no form for.
void allowOnly(Arg arguments, std::initializer_list<std::string_view> names, std::string_view user)
{
    for (const auto& [name, value] : arguments.named)
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw Failure("the argument " + name + " of " + std::string(user)
                          + " is not supported");
}

Value lengthOf(const Value& value)
{
    if (value.text() != nullptr)
        return static_cast<std::int64_t>(length(*value.text()));
    return static_cast<std::int64_t>(elements(value).size());
}

std::string joined(const Value& value, Arg arguments)
{
    allowOnly(arguments, {"d"}, "join");
    const std::string between = shown(argument(arguments, 0, "d", ""));
    std::string out;
    bool first = true;
    for (const Value& element : elements(value)) {
        if (!first)
            out += between;
        first = false;
        out += shown(element);
        Run::checkBytes(out.size());
    }
    return out;
}

Value jsonOf(const Value& value, Arg arguments)
{
    allowOnly(arguments, {"indent", "ensure_ascii"}, "tojson");
    const Value ascii = argument(arguments, 0, "ensure_ascii", false);
    if (ascii.truth())
        throw Failure("the argument ensure_ascii of tojson is not supported");
    const Value indent = argument(arguments, 1, "indent", {});
    constexpr std::int64_t widest = 64;
    return json(value, indent.isNone() ? -1
                                       : static_cast<int>(std::clamp<std::int64_t>(
                                           integerOf(indent, "tojson"), 0, widest)));
}

/// Jinja's filter: spaces before every line but the first (and empty ones).
Value indented(const Value& value, Arg arguments)
{
    allowOnly(arguments, {"width", "first", "blank"}, "indent");
    const Value width = argument(arguments, 0, "width", std::int64_t{4});
    constexpr std::int64_t widest = 1000;
    const std::string margin = width.text() != nullptr
                                   ? *width.text()
                                   : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(
                                                     integerOf(width, "indent"), 0, widest)),
                                                 ' ');
    const bool first = argument(arguments, 1, "first", false).truth();
    const bool blank = argument(arguments, 2, "blank", false).truth();
    std::string out;
    bool begins = true;
    for (const std::string& line : split(textOf(value, "indent"), "\n", -1)) {
        if (!begins)
            out += '\n';
        if (begins ? first : blank || !line.empty())
            out += margin;
        begins = false;
        out += line;
        Run::checkBytes(out.size());
    }
    return out;
}

Value asInteger(const Value& value, Arg arguments)
{
    const Value fallback = argument(arguments, 0, "default", std::int64_t{0});
    if (value.isInteger())
        return value.integer();
    constexpr double largest = 9e18;
    if (value.isNumber())
        return std::abs(value.number()) < largest ? Value(static_cast<std::int64_t>(value.number()))
                                                  : fallback;
    if (value.text() == nullptr)
        return fallback;
    const std::string text = stripped(*value.text(), Ends::Both);
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    std::int64_t number = 0;
    const auto end = std::from_chars(begin, text.data() + text.size(), number);
    const bool whole = end.ec == std::errc() && end.ptr == text.data() + text.size();
    return whole ? Value(number) : fallback;
}

Value asFloat(const Value& value, Arg arguments)
{
    if (value.isNumber())
        return value.number();
    const std::string text =
        value.text() == nullptr ? std::string() : stripped(*value.text(), Ends::Both);
    double number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole =
        !text.empty() && end.ec == std::errc() && end.ptr == text.data() + text.size();
    return whole ? Value(number) : argument(arguments, 0, "default", 0.0);
}

Value pairsOf(const Dict& dict)
{
    List out;
    for (const auto& [key, value] : dict.entries)
        out.emplace_back(List{key, value});
    return out;
}

Value itemsFilter(const Value& value)
{
    if (value.isUndefined())
        return List{};
    if (value.dict() == nullptr)
        throw Failure("items needs a mapping and not " + value.kind());
    return pairsOf(*value.dict());
}

/// Jinja's dictsort: by key, case aside.
Value sortedPairs(const Value& value)
{
    if (value.dict() == nullptr)
        throw Failure("dictsort needs a mapping and not " + value.kind());
    auto entries = value.dict()->entries;
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return lower(a.first) < lower(b.first); });
    return pairsOf(Dict{std::move(entries)});
}

Value sorted(const Value& value, Arg arguments)
{
    allowOnly(arguments, {"reverse"}, "sort");
    const auto key = [](const Value& element) {
        return element.text() != nullptr ? Value(lower(*element.text())) : element;
    };
    List all = elements(value);
    for (std::size_t i = 1; i < all.size(); ++i)
        static_cast<void>(less(key(all[i]), key(all.front()))); // fails before the sort does
    const bool reverse = argument(arguments, 0, "reverse", false).truth();
    std::stable_sort(all.begin(), all.end(), [&](const Value& a, const Value& b) {
        return reverse ? less(key(b), key(a)) : less(key(a), key(b));
    });
    return all;
}

Value uniqueOf(const Value& value)
{
    List out;
    for (const Value& element : elements(value)) {
        const auto same = [&](const Value& held) {
            const bool texts = held.text() != nullptr && element.text() != nullptr;
            return texts ? lower(*held.text()) == lower(*element.text()) : equal(held, element);
        };
        if (std::none_of(out.begin(), out.end(), same))
            out.push_back(element);
    }
    return out;
}

/// select, reject, selectattr, rejectattr: (attribute,) test and its arguments.
Value selected(const Value& value, Arg arguments, bool byAttribute, bool keep)
{
    Arguments rest = arguments;
    std::string attribute;
    if (byAttribute) {
        if (rest.positional.empty())
            throw Failure("selectattr needs the name of an attribute");
        attribute = textOf(rest.positional.front(), "selectattr");
        rest.positional.erase(rest.positional.begin());
    }
    std::string test;
    if (!rest.positional.empty()) {
        test = textOf(rest.positional.front(), "the name of a test");
        rest.positional.erase(rest.positional.begin());
    }
    List out;
    for (const Value& element : value.truth() ? elements(value) : List()) {
        const Value subject = byAttribute ? itemOf(element, attribute) : element;
        if ((test.empty() ? subject.truth() : applyTest(test, subject, rest)) == keep)
            out.push_back(element);
    }
    return out;
}

Value mapped(Run& run, const Value& value, Arg arguments)
{
    allowOnly(arguments, {"attribute", "default"}, "map");
    List out;
    if (!value.truth())
        return out;
    Arguments rest = arguments;
    if (arguments.positional.empty()) {
        const Value attribute = argument(arguments, 1, "attribute", {});
        for (const Value& element : elements(value)) {
            Value part = itemOf(element, textOf(attribute, "map"));
            out.push_back(part.isUndefined() ? argument(arguments, 2, "default", part) : part);
        }
        return out;
    }
    const std::string filter = textOf(arguments.positional.front(), "map");
    rest.positional.erase(rest.positional.begin());
    for (const Value& element : elements(value))
        out.push_back(applyFilter(run, filter, element, rest));
    return out;
}

Value firstOrLast(const Value& value, bool last)
{
    const List all = elements(value);
    if (all.empty())
        return Value::undefined(last ? "last of nothing" : "first of nothing");
    return last ? all.back() : all.front();
}

Value reversedOf(const Value& value)
{
    List all = elements(value);
    std::reverse(all.begin(), all.end());
    if (value.text() == nullptr)
        return all;
    std::string out;
    for (const Value& character : all)
        out += *character.text();
    return out;
}

Value absolute(const Value& value)
{
    if (value.isInteger()) // the lowest has no positive counterpart
        return std::abs(std::max(value.integer(), -INT64_MAX));
    if (!value.isNumber())
        throw Failure("abs needs a number and not " + value.kind());
    return std::abs(value.number());
}

using FilterFunction = Value (*)(Run&, const Value&, Arg);

const std::map<std::string_view, FilterFunction>& filters()
{
    static const std::map<std::string_view, FilterFunction> all{
        {"trim",
         [](Run&, const Value& v, Arg a) -> Value {
             const Value what = argument(a, 0, "chars", {});
             return what.isNone() ? stripped(shown(v), Ends::Both)
                                  : stripped(shown(v), Ends::Both, textOf(what, "trim"));
         }},
        {"tojson", [](Run&, const Value& v, Arg a) { return jsonOf(v, a); }},
        {"length", [](Run&, const Value& v, Arg) { return lengthOf(v); }},
        {"count", [](Run&, const Value& v, Arg) { return lengthOf(v); }},
        {"string", [](Run&, const Value& v, Arg) -> Value { return shown(v); }},
        {"safe", [](Run&, const Value& v, Arg) -> Value { return shown(v); }},
        {"int", [](Run&, const Value& v, Arg a) { return asInteger(v, a); }},
        {"float", [](Run&, const Value& v, Arg a) { return asFloat(v, a); }},
        {"lower", [](Run&, const Value& v, Arg) -> Value { return lower(shown(v)); }},
        {"upper", [](Run&, const Value& v, Arg) -> Value { return upper(shown(v)); }},
        {"capitalize", [](Run&, const Value& v, Arg) -> Value { return capitalised(shown(v)); }},
        {"title", [](Run&, const Value& v, Arg) -> Value { return wordsCapitalised(shown(v)); }},
        {"join", [](Run&, const Value& v, Arg a) -> Value { return joined(v, a); }},
        {"indent", [](Run&, const Value& v, Arg a) { return indented(v, a); }},
        {"replace",
         [](Run&, const Value& v, Arg a) -> Value {
             const Value most = argument(a, 2, "count", {});
             return replaced(shown(v), textOf(argument(a, 0, "old", {}), "replace"),
                             textOf(argument(a, 1, "new", {}), "replace"),
                             most.isNone() ? -1 : integerOf(most, "replace"));
         }},
        {"default",
         [](Run&, const Value& v, Arg a) -> Value {
             const bool alsoFalse = argument(a, 1, "boolean", false).truth();
             const bool missing = v.isUndefined() || (alsoFalse && !v.truth());
             return missing ? argument(a, 0, "default_value", "") : v;
         }},
        {"d", [](Run& run, const Value& v, Arg a) { return applyFilter(run, "default", v, a); }},
        {"first", [](Run&, const Value& v, Arg) { return firstOrLast(v, false); }},
        {"last", [](Run&, const Value& v, Arg) { return firstOrLast(v, true); }},
        {"list", [](Run&, const Value& v, Arg) -> Value { return elements(v); }},
        {"reverse", [](Run&, const Value& v, Arg) { return reversedOf(v); }},
        {"sort", [](Run&, const Value& v, Arg a) { return sorted(v, a); }},
        {"unique", [](Run&, const Value& v, Arg) { return uniqueOf(v); }},
        {"items", [](Run&, const Value& v, Arg) { return itemsFilter(v); }},
        {"dictsort", [](Run&, const Value& v, Arg) { return sortedPairs(v); }},
        {"map", [](Run& run, const Value& v, Arg a) { return mapped(run, v, a); }},
        {"select", [](Run&, const Value& v, Arg a) { return selected(v, a, false, true); }},
        {"reject", [](Run&, const Value& v, Arg a) { return selected(v, a, false, false); }},
        {"selectattr", [](Run&, const Value& v, Arg a) { return selected(v, a, true, true); }},
        {"rejectattr", [](Run&, const Value& v, Arg a) { return selected(v, a, true, false); }},
        {"abs", [](Run&, const Value& v, Arg) { return absolute(v); }},
    };
    return all;
}

} // namespace

Value applyFilter(Run& run, std::string_view name, const Value& value, const Arguments& arguments)
{
    const auto found = filters().find(name);
    if (found == filters().end())
        throw Failure("the template uses the filter " + std::string(name)
                      + ", which is not supported");
    Value out = found->second(run, value, arguments);
    if (const auto* text = out.text())
        Run::checkBytes(text->size());
    return out;
}

bool applyTest(std::string_view name, const Value& value, const Arguments& arguments)
{
    const auto other = [&] {
        if (arguments.positional.empty())
            throw Failure("the test " + std::string(name) + " needs a value to compare with");
        return arguments.positional.front();
    };
    using TestFunction = std::function<bool()>;
    const std::map<std::string_view, TestFunction> tests{
        {"defined", [&] { return !value.isUndefined(); }},
        {"undefined", [&] { return value.isUndefined(); }},
        {"none", [&] { return value.isNone(); }},
        {"string", [&] { return value.text() != nullptr; }},
        {"mapping", [&] { return value.dict() != nullptr && !value.dict()->isNamespace; }},
        {"sequence",
         [&] {
             return value.text() != nullptr || value.list() != nullptr || value.dict() != nullptr
                    || value.isUndefined();
         }},
        {"iterable",
         [&] {
             return value.text() != nullptr || value.list() != nullptr || value.isUndefined()
                    || (value.dict() != nullptr && !value.dict()->isNamespace);
         }},
        {"number", [&] { return value.isNumber(); }},
        {"integer", [&] { return value.isInteger() && !value.isBool(); }},
        {"float", [&] { return value.isNumber() && !value.isInteger(); }},
        {"boolean", [&] { return value.isBool(); }},
        {"true", [&] { return value.isBool() && value.truth(); }},
        {"false", [&] { return value.isBool() && !value.truth(); }},
        {"callable", [&] { return value.function() != nullptr || value.isUndefined(); }},
        {"odd", [&] { return integerOf(value, "odd") % 2 != 0; }},
        {"even", [&] { return integerOf(value, "even") % 2 == 0; }},
        {"equalto", [&] { return equal(value, other()); }},
        {"eq", [&] { return equal(value, other()); }},
        {"==", [&] { return equal(value, other()); }},
        {"ne", [&] { return !equal(value, other()); }},
        {"in", [&] { return contains(other(), value); }},
    };
    const auto found = tests.find(name);
    if (found == tests.end())
        throw Failure("the template uses the test " + std::string(name)
                      + ", which is not supported");
    return found->second();
}

} // namespace moire::capture::jinja
