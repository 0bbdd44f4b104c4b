// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/jinja/builtins.h"
#include "capture/task/jinja/characters.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace moire::capture::jinja {

namespace {

const std::string& textAt(const Arguments& arguments, std::size_t place, const std::string& method)
{
    const Value* given = arguments.find(place, {});
    if (given == nullptr || given->text() == nullptr)
        throw Failure("the method " + method + " needs a string");
    return *given->text();
}

/// How often, or −1 (always) where the argument was left out.
std::ptrdiff_t mostAt(const Arguments& arguments, std::size_t place, std::string_view name)
{
    const Value* given = arguments.find(place, name);
    if (given == nullptr)
        return -1;
    if (!given->isInteger())
        throw Failure("the argument " + std::string(name) + " is no whole number");
    return given->integer();
}

Value listOf(const std::vector<std::string>& texts)
{
    return List(texts.begin(), texts.end());
}

Value splitBy(const std::string& text, const std::string& method, const Arguments& arguments)
{
    const std::ptrdiff_t most = mostAt(arguments, 1, "maxsplit");
    const Value* separator = arguments.find(0, "sep");
    if (separator == nullptr || separator->isNone()) {
        if (method == "rsplit" && most >= 0)
            throw Failure("rsplit without a separator is not supported");
        return listOf(splitWords(text, most));
    }
    const std::string& between = textAt(arguments, 0, method);
    if (between.empty())
        throw Failure("the method " + method + " needs a separator that is not empty");
    return listOf(method == "rsplit" ? splitRight(text, between, most)
                                     : split(text, between, most));
}

/// startswith and endswith, with a string or a list of them.
bool hasEnd(const std::string& text, const std::string& method, const Arguments& arguments)
{
    const auto fits = [&](const std::string& part) {
        return method == "startswith" ? text.starts_with(part) : text.ends_with(part);
    };
    const Value* given = arguments.find(0, {});
    if (given == nullptr || given->list() == nullptr)
        return fits(textAt(arguments, 0, method));
    return std::any_of(given->list()->begin(), given->list()->end(), [&](const Value& part) {
        return part.text() != nullptr && fits(*part.text());
    });
}

Value strip(const std::string& text, const std::string& method, const Arguments& arguments)
{
    const Ends ends = method == "strip"    ? Ends::Both
                      : method == "lstrip" ? Ends::Left
                                           : Ends::Right;
    const Value* what = arguments.find(0, {});
    if (what == nullptr || what->isNone())
        return stripped(text, ends);
    return stripped(text, ends, textAt(arguments, 0, method));
}

/// The place in code points, or −1.
std::int64_t placeOf(const std::string& text, const std::string& part)
{
    const std::size_t place = text.find(part);
    return place == std::string::npos
               ? -1
               : static_cast<std::int64_t>(length(std::string_view(text).substr(0, place)));
}

std::int64_t countOf(const std::string& text, const std::string& part)
{
    if (part.empty())
        return static_cast<std::int64_t>(length(text)) + 1;
    return static_cast<std::int64_t>(split(text, part, -1).size()) - 1;
}

/// Python's str.splitlines() for "\n", "\r\n" and "\r".
Value linesOf(const std::string& text)
{
    const std::string plain = replaced(replaced(text, "\r\n", "\n", -1), "\r", "\n", -1);
    std::vector<std::string> lines = split(plain, "\n", -1);
    if (lines.back().empty())
        lines.pop_back();
    return listOf(lines);
}

Value callText(const std::string& text, const std::string& method, const Arguments& arguments)
{
    if (method.ends_with("split"))
        return splitBy(text, method, arguments);
    if (method.ends_with("strip"))
        return strip(text, method, arguments);
    if (method.ends_with("with"))
        return hasEnd(text, method, arguments);
    if (method == "replace")
        return replaced(text, textAt(arguments, 0, method), textAt(arguments, 1, method),
                        mostAt(arguments, 2, "count"));
    if (method == "find")
        return placeOf(text, textAt(arguments, 0, method));
    if (method == "count")
        return countOf(text, textAt(arguments, 0, method));
    if (method == "upper")
        return upper(text);
    if (method == "lower")
        return lower(text);
    if (method == "splitlines")
        return linesOf(text);
    return method == "title" ? titled(text) : capitalised(text);
}

Value callDict(const Dict& dict, const std::string& method, const Arguments& arguments)
{
    if (method == "get") {
        const Value* found = dict.find(textAt(arguments, 0, method));
        const Value* fallback = arguments.find(1, "default");
        return found != nullptr ? *found : fallback != nullptr ? *fallback : Value();
    }
    List out;
    for (const auto& [key, value] : dict.entries)
        out.push_back(method == "items"  ? Value(List{key, value})
                      : method == "keys" ? Value(key)
                                         : value);
    return out;
}

Value makeDict(const Arguments& arguments)
{
    Dict dict;
    if (!arguments.positional.empty()) {
        const Value& first = arguments.positional.front();
        if (first.dict() == nullptr)
            throw Failure("dict and namespace take a mapping and not " + first.kind());
        dict.entries = first.dict()->entries;
    }
    for (const auto& [name, value] : arguments.named)
        dict.set(name, value);
    return dict;
}

Value makeNamespace(const Arguments& arguments)
{
    Dict space{makeDict(arguments).dict()->entries, true};
    for (const auto& [name, value] : space.entries)
        if (value.holdsNamespace())
            throw Failure("the template keeps a namespace within another, which is not supported");
    return space;
}

Value makeRange(const Arguments& arguments)
{
    std::vector<std::int64_t> bounds;
    for (const Value& bound : arguments.positional) {
        if (!bound.isInteger())
            throw Failure("range needs whole numbers and not " + bound.kind());
        bounds.push_back(std::clamp<std::int64_t>(bound.integer(), -INT32_MAX, INT32_MAX));
    }
    if (bounds.empty() || bounds.size() > 3 || (bounds.size() == 3 && bounds[2] == 0))
        throw Failure("range takes one to three numbers, the step not 0");
    const std::int64_t begin = bounds.size() == 1 ? 0 : bounds[0];
    const std::int64_t end = bounds.size() == 1 ? bounds[0] : bounds[1];
    const std::int64_t step = bounds.size() == 3 ? bounds[2] : 1;
    List out;
    for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
        if (static_cast<std::int64_t>(out.size()) >= Run::longestRange)
            throw Failure("the template makes a range of more than 100,000 numbers");
        out.emplace_back(i);
    }
    return out;
}

/// transformers' strftime_now: the local time of this moment.
Value now(const Arguments& arguments)
{
    const std::string& format = textAt(arguments, 0, "strftime_now");
    constexpr std::size_t longest = 256;
    std::array<char, longest> text{};
    const std::time_t moment = std::time(nullptr);
    std::tm parts{};
    if (localtime_r(&moment, &parts) == nullptr)
        throw Failure("the time is not known");
    const std::size_t size = std::strftime(text.data(), text.size(), format.c_str(), &parts);
    return std::string(text.data(), size);
}

} // namespace

Value methodOf(const Value& value, std::string_view name)
{
    constexpr std::array<std::string_view, 15> ofText{
        "split", "rsplit", "strip", "lstrip", "rstrip", "startswith", "endswith",  "replace",
        "find",  "count",  "upper", "lower",  "title",  "capitalize", "splitlines"};
    constexpr std::array<std::string_view, 4> ofDict{"get", "items", "keys", "values"};
    const std::string method(name);
    if (value.text() != nullptr && std::find(ofText.begin(), ofText.end(), name) != ofText.end())
        return {Function([text = *value.text(), method](Run&, const Arguments& arguments) {
                    return callText(text, method, arguments);
                }),
                value};
    if (value.dict() != nullptr && !value.dict()->isNamespace
        && std::find(ofDict.begin(), ofDict.end(), name) != ofDict.end())
        return {Function([value, method](Run&, const Arguments& arguments) {
                    return callDict(*value.dict(), method, arguments);
                }),
                value};
    return Value::undefined(method);
}

void addFunctions(Scope& scope)
{
    const auto add = [&](const char* name, Value (*function)(const Arguments&)) {
        scope.set(name,
                  Function([function](Run&, const Arguments& given) { return function(given); }));
    };
    add("namespace", makeNamespace);
    add("dict", makeDict);
    add("range", makeRange);
    add("strftime_now", now);
    add("raise_exception", [](const Arguments& arguments) -> Value {
        throw Failure("the template refuses the conversation: "
                      + (arguments.positional.empty() ? std::string("it does not say why")
                                                      : shown(arguments.positional.front())));
    });
}

Value itemOf(const Value& container, const Value& key)
{
    const Value missing = Value::undefined(key.text() == nullptr ? std::string() : *key.text());
    if (container.isUndefined())
        throw Failure("the template takes a part of a value that is " + container.kind());
    if (const Dict* dict = container.dict()) {
        const Value* found = key.text() == nullptr ? nullptr : dict->find(*key.text());
        return found == nullptr ? missing : *found;
    }
    if (!key.isInteger() || (container.list() == nullptr && container.text() == nullptr))
        return missing;
    const List all = container.list() != nullptr ? *container.list() : elements(container);
    const auto size = static_cast<std::int64_t>(all.size());
    const std::int64_t index = key.integer() < 0 ? key.integer() + size : key.integer();
    return index >= 0 && index < size ? all[static_cast<std::size_t>(index)] : missing;
}

bool contains(const Value& haystack, const Value& needle)
{
    if (const auto* text = haystack.text()) {
        if (needle.text() == nullptr)
            throw Failure("the template looks for " + needle.kind() + " in a string");
        return text->find(*needle.text()) != std::string::npos;
    }
    if (const Dict* dict = haystack.dict(); dict != nullptr && !dict->isNamespace)
        return needle.text() != nullptr && dict->find(*needle.text()) != nullptr;
    const List all = elements(haystack);
    return std::any_of(all.begin(), all.end(),
                       [&](const Value& element) { return equal(element, needle); });
}

} // namespace moire::capture::jinja
