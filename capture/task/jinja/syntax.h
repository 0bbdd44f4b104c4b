// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/task/jinja/value.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture::jinja {

/// What one rendering may spend; a template that asks for more is refused.
struct Run
{
    static constexpr std::size_t mostSteps = 5'000'000;
    static constexpr std::size_t mostBytes = std::size_t{1} << 26U; ///< of one string: 64 MiB
    static constexpr std::size_t mostElements = 1'000'000;          ///< of one list
    static constexpr std::int64_t longestRange = 100'000;           ///< as jinja2's sandbox
    static constexpr unsigned deepestNesting = 1000; ///< of expressions, blocks and macro calls

    std::size_t steps = 0;
    unsigned depth = 0;

    void spend(std::size_t count)
    {
        steps += count;
        if (steps > mostSteps)
            throw Failure("the template does not come to an end");
    }
    static void checkBytes(std::size_t bytes)
    {
        if (bytes > mostBytes)
            throw Failure("the template makes a text of more than 64 MiB");
    }
    static void checkElements(std::size_t elements)
    {
        if (elements > mostElements)
            throw Failure("the template makes a list of more than 1,000,000 elements");
    }
};

/// Names and what they stand for; a loop's body and a macro have a scope of their own.
class Scope
{
public:
    explicit Scope(const Scope* outer)
        : m_outer(outer)
    {}
    const Value* find(std::string_view name) const
    {
        const auto it = m_values.find(name);
        if (it != m_values.end())
            return &it->second;
        return m_outer == nullptr ? nullptr : m_outer->find(name);
    }
    void set(const std::string& name, Value value) { m_values[name] = std::move(value); }

private:
    const Scope* m_outer;
    std::map<std::string, Value, std::less<>> m_values;
};

struct Frame
{
    Run& run;
    Scope& scope;
    std::string& out;

    void write(std::string_view text)
    {
        Run::checkBytes(out.size() + text.size());
        out += text;
    }
};

/// One level deeper, for as long as it lives.
class Nested
{
public:
    explicit Nested(Run& run)
        : m_run(run)
    {
        if (run.depth >= Run::deepestNesting)
            throw Failure("the template is nested too deep, or its macros call each other");
        ++run.depth;
        run.spend(1);
    }
    ~Nested() { --m_run.depth; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

private:
    Run& m_run;
};

class Expression
{
public:
    virtual ~Expression() = default;
    Value evaluate(Frame& frame) const
    {
        const Nested nested(frame.run);
        Value value = result(frame);
        frame.run.spend(value.weight());
        return value;
    }

private:
    virtual Value result(Frame& frame) const = 0;
};

enum class Flow
{
    Next,
    Break,
    Continue,
};

class Statement
{
public:
    virtual ~Statement() = default;
    virtual Flow execute(Frame& frame) const = 0;
};

using ExpressionPtr = std::unique_ptr<const Expression>;
using StatementPtr = std::unique_ptr<const Statement>;
using Block = std::vector<StatementPtr>;

/// Runs the statements in turn until one leaves a loop.
Flow executeBlock(const Block& block, Frame& frame);

/// What a call passes.
struct CallArguments
{
    std::vector<ExpressionPtr> positional;
    std::vector<std::pair<std::string, ExpressionPtr>> named;

    Arguments evaluate(Frame& frame) const;
};

} // namespace moire::capture::jinja
