// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/jinja/expressions.h"

#include "capture/task/jinja/builtins.h"
#include "capture/task/jinja/characters.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace moire::capture::jinja {

Arguments CallArguments::evaluate(Frame& frame) const
{
    Arguments out;
    for (const ExpressionPtr& argument : positional)
        out.positional.push_back(argument->evaluate(frame));
    for (const auto& [name, argument] : named)
        out.named.emplace_back(name, argument->evaluate(frame));
    return out;
}

Value Name::result(Frame& frame) const
{
    const Value* found = frame.scope.find(name);
    return found == nullptr ? Value::undefined(name) : *found;
}

Value ListOf::result(Frame& frame) const
{
    List list;
    for (const ExpressionPtr& element : elements)
        list.push_back(element->evaluate(frame));
    return list;
}

Value DictOf::result(Frame& frame) const
{
    Dict dict;
    for (const auto& [key, value] : entries) {
        const Value name = key->evaluate(frame);
        if (name.text() == nullptr)
            throw Failure("the template makes a mapping with a key that is " + name.kind()
                          + ", which is not supported");
        dict.set(*name.text(), value->evaluate(frame));
    }
    return dict;
}

Value Item::result(Frame& frame) const
{
    const Value object = container->evaluate(frame);
    const Value name = key->evaluate(frame);
    if (object.isUndefined())
        throw Failure("the template takes " + shown(name) + " of a value that is " + object.kind());
    if (dotted)
        if (Value method = methodOf(object, *name.text()); !method.isUndefined())
            return method;
    return itemOf(object, name);
}

Value Slice::result(Frame& frame) const
{
    const Value object = container->evaluate(frame);
    const bool ofText = object.text() != nullptr;
    if (!ofText && object.list() == nullptr)
        throw Failure("the template takes a part of " + object.kind());
    const List all = elements(object);
    const auto size = static_cast<std::int64_t>(all.size());
    const auto bound = [&](const ExpressionPtr& expression, std::int64_t fallback) {
        const Value value = expression == nullptr ? Value() : expression->evaluate(frame);
        if (value.isNone())
            return fallback;
        if (!value.isInteger())
            throw Failure("the bound of a part is " + value.kind() + " and no whole number");
        return value.integer();
    };
    const std::int64_t stride = bound(step, 1);
    if (stride == 0)
        throw Failure("the step of a part is 0");
    // Python's rule: bounds count from the end when negative, and stay within the list.
    const std::int64_t low = stride > 0 ? 0 : -1;
    const std::int64_t high = stride > 0 ? size : size - 1;
    const auto within = [&](std::int64_t at) {
        return std::clamp(at < 0 ? at + size : at, low, high);
    };
    constexpr auto none = std::numeric_limits<std::int64_t>::min();
    const std::int64_t from = bound(begin, none);
    const std::int64_t to = bound(end, none);
    std::int64_t at = from == none ? (stride > 0 ? low : high) : within(from);
    const std::int64_t stop = to == none ? (stride > 0 ? high : low) : within(to);
    List part;
    for (; stride > 0 ? at < stop : at > stop; at += stride) {
        part.push_back(all[static_cast<std::size_t>(at)]);
        if (std::abs(stride) > size)
            break;
    }
    if (!ofText)
        return part;
    std::string text;
    for (const Value& character : part)
        text += *character.text();
    return text;
}

Value Call::result(Frame& frame) const
{
    const Value function = callee->evaluate(frame);
    if (function.function() == nullptr)
        throw Failure("the template calls " + function.kind());
    return (*function.function())(frame.run, arguments.evaluate(frame));
}

Value Filter::result(Frame& frame) const
{
    return applyFilter(frame.run, name, input->evaluate(frame), arguments.evaluate(frame));
}

Value Test::result(Frame& frame) const
{
    return applyTest(name, input->evaluate(frame), arguments.evaluate(frame)) != negated;
}

Value Conditional::result(Frame& frame) const
{
    if (condition->evaluate(frame).truth())
        return then->evaluate(frame);
    return otherwise == nullptr ? Value::undefined({}) : otherwise->evaluate(frame);
}

Value Not::result(Frame& frame) const
{
    return !operand->evaluate(frame).truth();
}

Value Logical::result(Frame& frame) const
{
    Value value = first->evaluate(frame);
    return value.truth() == isAnd ? second->evaluate(frame) : value;
}

Value Comparison::result(Frame& frame) const
{
    Value left = first->evaluate(frame);
    for (const auto& [sign, operand] : rest) {
        const Value right = operand->evaluate(frame);
        const bool holds = sign == "=="   ? equal(left, right)
                           : sign == "!=" ? !equal(left, right)
                           : sign == "in" ? contains(right, left)
                           : sign == "<"  ? less(left, right)
                           : sign == ">"  ? less(right, left)
                           : sign == "<=" ? !less(right, left)
                           : sign == ">=" ? !less(left, right)
                                          : !contains(right, left);
        if (!holds)
            return false;
        left = right;
    }
    return true;
}

namespace {

Failure unfit(const std::string& sign, const Value& a, const Value& b)
{
    return Failure("the template calculates " + a.kind() + ' ' + sign + ' ' + b.kind());
}

std::int64_t integerResult(const std::string& sign, std::int64_t a, std::int64_t b)
{
    std::int64_t out = 0;
    const bool overflows = sign == "+"   ? __builtin_add_overflow(a, b, &out)
                           : sign == "-" ? __builtin_sub_overflow(a, b, &out)
                                         : __builtin_mul_overflow(a, b, &out);
    if (overflows)
        throw Failure("a number of the template is too large");
    return out;
}

/// Python's // and %: rounded down, the remainder with the sign of the divisor.
Value divided(const std::string& sign, const Value& a, const Value& b)
{
    if (b.number() == 0)
        throw Failure("the template divides by 0");
    if (sign == "/")
        return a.number() / b.number();
    if (!a.isInteger() || !b.isInteger()) {
        const double quotient = std::floor(a.number() / b.number());
        return sign == "//" ? quotient : a.number() - quotient * b.number();
    }
    if (b.integer() == -1)
        return sign == "//" ? integerResult("-", 0, a.integer()) : std::int64_t{0};
    std::int64_t quotient = a.integer() / b.integer();
    std::int64_t remainder = a.integer() % b.integer();
    if (remainder != 0 && (remainder < 0) != (b.integer() < 0)) {
        --quotient;
        remainder += b.integer();
    }
    return sign == "//" ? quotient : remainder;
}

Value power(const Value& a, const Value& b)
{
    if (!a.isInteger() || !b.isInteger() || b.integer() < 0)
        return std::pow(a.number(), b.number());
    std::int64_t out = 1;
    for (std::int64_t i = 0; i < b.integer() && out != 0; ++i) {
        out = integerResult("*", out, a.integer());
        if (a.integer() == 1)
            break;
        if (a.integer() == -1)
            return b.integer() % 2 == 0 ? std::int64_t{1} : std::int64_t{-1};
    }
    return out;
}

Value ofNumbers(const std::string& sign, const Value& a, const Value& b)
{
    if (sign == "/" || sign == "//" || sign == "%")
        return divided(sign, a, b);
    if (sign == "**")
        return power(a, b);
    if (a.isInteger() && b.isInteger())
        return integerResult(sign, a.integer(), b.integer());
    return sign == "+"   ? a.number() + b.number()
           : sign == "-" ? a.number() - b.number()
                         : a.number() * b.number();
}

/// A string or list so many times.
Value repeated(const Value& value, std::int64_t times)
{
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
    if (const List* list = value.list()) {
        Run::checkElements(list->empty() ? 0 : std::max(count, count * list->size()));
        List out;
        for (std::size_t i = 0; i < count && !list->empty(); ++i)
            out.insert(out.end(), list->begin(), list->end());
        return out;
    }
    const std::string& text = *value.text();
    Run::checkBytes(text.empty() ? 0 : count > Run::mostBytes ? count : count * text.size());
    std::string out;
    for (std::size_t i = 0; i < count && !text.empty(); ++i)
        out += text;
    return out;
}

Value sumOf(const Value& a, const Value& b)
{
    if (a.text() != nullptr && b.text() != nullptr) {
        Run::checkBytes(a.text()->size() + b.text()->size());
        return *a.text() + *b.text();
    }
    if (a.list() == nullptr || b.list() == nullptr)
        throw unfit("+", a, b);
    Run::checkElements(a.list()->size() + b.list()->size());
    List out = *a.list();
    out.insert(out.end(), b.list()->begin(), b.list()->end());
    return out;
}

} // namespace

Value Negation::result(Frame& frame) const
{
    const Value value = operand->evaluate(frame);
    if (!value.isNumber())
        throw Failure("the template negates " + value.kind());
    if (value.isInteger())
        return integerResult("-", 0, value.integer());
    return -value.number();
}

Value Arithmetic::result(Frame& frame) const
{
    const Value a = first->evaluate(frame);
    const Value b = second->evaluate(frame);
    if (sign == "~") {
        const std::string left = shown(a);
        const std::string right = shown(b);
        Run::checkBytes(left.size() + right.size());
        return left + right;
    }
    if (a.isNumber() && b.isNumber())
        return ofNumbers(sign, a, b);
    const auto repeats = [](const Value& value, const Value& times) {
        return (value.text() != nullptr || value.list() != nullptr) && times.isInteger();
    };
    if (sign == "*" && repeats(a, b))
        return repeated(a, b.integer());
    if (sign == "*" && repeats(b, a))
        return repeated(b, a.integer());
    if (sign != "+")
        throw unfit(sign, a, b);
    return sumOf(a, b);
}

} // namespace moire::capture::jinja
