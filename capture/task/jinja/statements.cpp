// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/jinja/statements.h"

#include "capture/task/jinja/builtins.h"

#include <algorithm>

namespace moire::capture::jinja {

Flow executeBlock(const Block& block, Frame& frame)
{
    for (const StatementPtr& statement : block) {
        const Nested nested(frame.run);
        if (const Flow flow = statement->execute(frame); flow != Flow::Next)
            return flow;
    }
    return Flow::Next;
}

Flow TextOut::execute(Frame& frame) const
{
    frame.write(text);
    return Flow::Next;
}

Flow Print::execute(Frame& frame) const
{
    frame.write(shown(value->evaluate(frame)));
    return Flow::Next;
}

Flow If::execute(Frame& frame) const
{
    for (const auto& [condition, block] : branches)
        if (condition->evaluate(frame).truth())
            return executeBlock(block, frame);
    return executeBlock(otherwise, frame);
}

namespace {

/// Gives the names an element's parts.
void assign(Scope& scope, const std::vector<std::string>& names, const Value& value)
{
    if (names.size() == 1)
        return scope.set(names.front(), value);
    const List parts = elements(value);
    if (parts.size() != names.size())
        throw Failure("the template takes " + std::to_string(parts.size()) + " values apart into "
                      + std::to_string(names.size()) + " names");
    for (std::size_t i = 0; i < names.size(); ++i)
        scope.set(names[i], parts[i]);
}

Value cycleOf(std::size_t index)
{
    return Function([index](Run&, const Arguments& arguments) {
        if (arguments.positional.empty())
            throw Failure("loop.cycle needs a value");
        return arguments.positional[index % arguments.positional.size()];
    });
}

/// The variable `loop`.
Value loopAt(const List& all, std::size_t index)
{
    const auto number = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    const auto neighbour = [&](std::size_t place, const char* name) {
        return place < all.size() ? all[place] : Value::undefined(name);
    };
    Dict loop;
    loop.set("index", number(index + 1));
    loop.set("index0", number(index));
    loop.set("revindex", number(all.size() - index));
    loop.set("revindex0", number(all.size() - index - 1));
    loop.set("first", index == 0);
    loop.set("last", index + 1 == all.size());
    loop.set("length", number(all.size()));
    loop.set("previtem", neighbour(index - 1, "loop.previtem"));
    loop.set("nextitem", neighbour(index + 1, "loop.nextitem"));
    loop.set("cycle", cycleOf(index));
    return loop;
}

} // namespace

Flow For::execute(Frame& frame) const
{
    List all = elements(over->evaluate(frame));
    if (condition != nullptr)
        std::erase_if(all, [&](const Value& element) {
            Scope scope(&frame.scope);
            assign(scope, names, element);
            Frame inner{frame.run, scope, frame.out};
            return !condition->evaluate(inner).truth();
        });
    if (all.empty())
        return executeBlock(otherwise, frame);
    for (std::size_t i = 0; i < all.size(); ++i) {
        frame.run.spend(1);
        Scope scope(&frame.scope);
        scope.set("loop", loopAt(all, i));
        assign(scope, names, all[i]);
        Frame inner{frame.run, scope, frame.out};
        if (executeBlock(body, inner) == Flow::Break)
            break;
    }
    return Flow::Next;
}

Flow Set::execute(Frame& frame) const
{
    Value made = value->evaluate(frame);
    if (field.empty()) {
        assign(frame.scope, names, made);
        return Flow::Next;
    }
    const Value* space = frame.scope.find(names.front());
    if (space == nullptr || space->dict() == nullptr || !space->dict()->isNamespace)
        throw Failure("the template sets a field of " + names.front() + ", which is no namespace");
    if (made.holdsNamespace())
        throw Failure("the template keeps a namespace within another, which is not supported");
    space->dict()->set(field, std::move(made));
    return Flow::Next;
}

Flow Captured::execute(Frame& frame) const
{
    std::string written;
    Scope scope(&frame.scope);
    Frame inner{frame.run, scope, written};
    const Flow flow = executeBlock(body, inner);
    Value value = std::move(written);
    for (const auto& [filter, arguments] : filters)
        value = applyFilter(frame.run, filter, value, arguments.evaluate(frame));
    if (name.empty())
        frame.write(shown(value));
    else
        frame.scope.set(name, std::move(value));
    return flow;
}

Flow Group::execute(Frame& frame) const
{
    Scope scope(&frame.scope);
    Frame inner{frame.run, scope, frame.out};
    return executeBlock(body, inner);
}

Flow MacroDefinition::execute(Frame& frame) const
{
    // It is the scope of the whole template (the parser refuses others), which outlives every call.
    Scope& outer = frame.scope;
    const MacroDefinition& macro = *this;
    const auto call = [&outer, &macro](Run& run, const Arguments& arguments) -> Value {
        Scope scope(&outer);
        std::string written;
        Frame inner{run, scope, written};
        if (arguments.positional.size() > macro.parameters.size())
            throw Failure("the macro " + macro.name + " takes "
                          + std::to_string(macro.parameters.size()) + " arguments");
        for (const auto& [key, value] : arguments.named)
            if (std::none_of(macro.parameters.begin(), macro.parameters.end(),
                             [&](const auto& parameter) { return parameter.first == key; }))
                throw Failure("the macro " + macro.name + " has no parameter " + key);
        for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
            const auto& [parameter, fallback] = macro.parameters[i];
            const Value* given = arguments.find(i, parameter);
            scope.set(parameter, given != nullptr      ? *given
                                 : fallback != nullptr ? fallback->evaluate(inner)
                                                       : Value::undefined(parameter));
        }
        executeBlock(macro.body, inner);
        return written;
    };
    frame.scope.set(name, Function(call));
    return Flow::Next;
}

Flow Leave::execute(Frame&) const
{
    return flow;
}

} // namespace moire::capture::jinja
