// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/task/jinja/syntax.h"

#include <optional>

/// The expressions of a template; the parser makes them.
namespace moire::capture::jinja {

struct Literal final : Expression
{
    explicit Literal(Value content)
        : value(std::move(content))
    {}
    Value result(Frame&) const override { return value; }
    Value value;
};

struct Name final : Expression
{
    explicit Name(std::string word)
        : name(std::move(word))
    {}
    Value result(Frame& frame) const override;
    std::string name;
};

struct ListOf final : Expression
{
    Value result(Frame& frame) const override;
    std::vector<ExpressionPtr> elements;
};

struct DictOf final : Expression
{
    Value result(Frame& frame) const override;
    std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};

/// `container.name` or `container[key]`.
struct Item final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr container;
    ExpressionPtr key;
    bool dotted = false; ///< a method comes before a key, as in jinja2
};

struct Slice final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr container;
    ExpressionPtr begin, end, step; ///< null where left out
};

struct Call final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr callee;
    CallArguments arguments;
};

struct Filter final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr input;
    std::string name;
    CallArguments arguments;
};

struct Test final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr input;
    std::string name;
    CallArguments arguments;
    bool negated = false;
};

struct Conditional final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr condition, then, otherwise; ///< `otherwise` may be null
};

struct Not final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr operand;
};

/// `a and b`, `a or b`: the value that decides.
struct Logical final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr first, second;
    bool isAnd = false;
};

/// `a < b == c`: each pair has to hold.
struct Comparison final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr first;
    std::vector<std::pair<std::string, ExpressionPtr>> rest; ///< "==", …, "in", "not in"
};

struct Negation final : Expression
{
    Value result(Frame& frame) const override;
    ExpressionPtr operand;
};

/// + - * / // % ** ~
struct Arithmetic final : Expression
{
    Value result(Frame& frame) const override;
    std::string sign;
    ExpressionPtr first, second;
};

} // namespace moire::capture::jinja
