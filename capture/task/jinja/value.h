// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The part of the Jinja template language that chat templates use, with the results of Python's
/// jinja2 (sandboxed, `trim_blocks`, `lstrip_blocks`), as transformers sets it up.
namespace moire::capture::jinja {

/// Why a template cannot be read or rendered; caught by chat_template.cpp.
class Failure : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

class Value;
struct Run;
using List = std::vector<Value>;

/// In the order of insertion.
struct Dict
{
    std::vector<std::pair<std::string, Value>> entries;
    bool isNamespace = false; ///< made by namespace(): its fields can be set

    const Value* find(std::string_view key) const;
    void set(std::string_view key, Value value);
};

struct Arguments
{
    List positional;
    std::vector<std::pair<std::string, Value>> named;

    /// The argument at `place`, by place or by name; null when it was not given.
    const Value* find(std::size_t place, std::string_view name) const;
};

using Function = std::function<Value(Run&, const Arguments&)>;

/// A value of a template. Lists stand for tuples too; strings are UTF-8 and count in code points.
class Value
{
public:
    struct Undefined
    {
        std::string name;
    };
    struct None
    {
    };
    using Content = std::variant<Undefined, None, bool, std::int64_t, double, std::string,
                                 std::shared_ptr<const List>, std::shared_ptr<Dict>,
                                 std::shared_ptr<const Function>>;

    Value()
        : m_content(None{})
    {}
    Value(bool value)
        : m_content(value)
    {}
    Value(std::int64_t value)
        : m_content(value)
    {}
    Value(double value)
        : m_content(value)
    {}
    Value(std::string value)
        : m_content(std::move(value))
    {}
    Value(const char* value)
        : m_content(std::string(value))
    {}
    Value(List value);
    Value(Dict value);
    Value(Function value);
    /// A function that keeps a value.
    Value(Function value, const Value& kept);
    static Value undefined(std::string name) { return Value(Content(Undefined{std::move(name)})); }

    bool isUndefined() const { return std::holds_alternative<Undefined>(m_content); }
    bool isNone() const { return std::holds_alternative<None>(m_content); }
    bool isBool() const { return std::holds_alternative<bool>(m_content); }
    /// A bool is a number too, as in Python.
    bool isInteger() const { return isBool() || std::holds_alternative<std::int64_t>(m_content); }
    bool isNumber() const { return isInteger() || std::holds_alternative<double>(m_content); }

    const std::string* text() const { return std::get_if<std::string>(&m_content); }
    const List* list() const;
    Dict* dict() const;
    const Function* function() const;
    std::int64_t integer() const; ///< of an isInteger()
    double number() const;        ///< of an isNumber()

    /// A namespace, or a value with one in it.
    bool holdsNamespace() const { return m_holdsNamespace; }

    /// What it costs to copy or to go through it, in steps of a rendering.
    std::size_t weight() const;

    bool truth() const;
    /// "a string", "undefined", …, for messages.
    std::string kind() const;

private:
    explicit Value(Content content)
        : m_content(std::move(content))
    {}

    /// Values within values go 100 deep at most: Failure.
    void take(const Value& part);

    Content m_content;
    unsigned m_depth = 0; ///< of the values within
    bool m_holdsNamespace = false;
};

/// Two namespaces are equal when they are one.
bool equal(const Value& a, const Value& b);
/// Order of numbers and strings (code points). Failure for other pairs.
bool less(const Value& a, const Value& b);

/// What `{{ value }}` writes: Python's str() of it.
std::string shown(const Value& value);

/// Python's json.dumps(value, ensure_ascii=False, indent=indent); `indent` < 0: on one line.
std::string json(const Value& value, int indent);

/// The elements of a list, the keys of a mapping, the characters of a string; none of undefined.
List elements(const Value& value);

} // namespace moire::capture::jinja
