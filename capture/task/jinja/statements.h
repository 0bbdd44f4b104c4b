// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/task/jinja/syntax.h"

/// The statements of a template; the parser makes them.
namespace moire::capture::jinja {

struct TextOut final : Statement
{
    explicit TextOut(std::string content)
        : text(std::move(content))
    {}
    Flow execute(Frame& frame) const override;
    std::string text;
};

struct Print final : Statement
{
    explicit Print(ExpressionPtr printed)
        : value(std::move(printed))
    {}
    Flow execute(Frame& frame) const override;
    ExpressionPtr value;
};

struct If final : Statement
{
    Flow execute(Frame& frame) const override;
    std::vector<std::pair<ExpressionPtr, Block>> branches; ///< in turn
    Block otherwise;
};

struct For final : Statement
{
    Flow execute(Frame& frame) const override;
    std::vector<std::string> names; ///< more than one: each element is taken apart
    ExpressionPtr over;
    ExpressionPtr condition; ///< null: every element
    Block body;
    Block otherwise; ///< when there was no element
};

/// `{% set a, b = value %}`, `{% set space.name = value %}`.
struct Set final : Statement
{
    Flow execute(Frame& frame) const override;
    std::vector<std::string> names;
    std::string field; ///< of the namespace names[0]; "" for plain names
    ExpressionPtr value;
};

/// `{% set name %}…{% endset %}`, `{% filter f %}…{% endfilter %}`: what the body writes is passed
/// through the filters.
struct Captured final : Statement
{
    Flow execute(Frame& frame) const override;
    std::string name; ///< "": it is written
    std::vector<std::pair<std::string, CallArguments>> filters;
    Block body;
};

/// `{% generation %}…{% endgeneration %}` of transformers: writes its body.
struct Group final : Statement
{
    Flow execute(Frame& frame) const override;
    Block body;
};

struct MacroDefinition final : Statement
{
    Flow execute(Frame& frame) const override;
    std::string name;
    std::vector<std::pair<std::string, ExpressionPtr>> parameters; ///< null: no default
    Block body;
};

struct Leave final : Statement
{
    explicit Leave(Flow way)
        : flow(way)
    {}
    Flow execute(Frame& frame) const override;
    Flow flow;
};

} // namespace moire::capture::jinja
