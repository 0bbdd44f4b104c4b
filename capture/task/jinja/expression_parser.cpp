// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/jinja/expressions.h"
#include "capture/task/jinja/parser.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace moire::capture::jinja {

namespace {

using Kind = Token::Kind;

ExpressionPtr parsePrimary(TokenStream& tokens);
ExpressionPtr parseUnary(TokenStream& tokens, bool withFilters = true);

ExpressionPtr arithmetic(std::string sign, ExpressionPtr first, ExpressionPtr second)
{
    auto node = std::make_unique<Arithmetic>();
    node->sign = std::move(sign);
    node->first = std::move(first);
    node->second = std::move(second);
    return node;
}

/// Operators of one rank, from left to right.
template <std::size_t N, class Next>
ExpressionPtr parseChain(TokenStream& tokens, const std::array<std::string_view, N>& signs,
                         Next next)
{
    ExpressionPtr left = next(tokens);
    while (std::any_of(signs.begin(), signs.end(),
                       [&](std::string_view sign) { return tokens.is(sign); })) {
        std::string sign = tokens.take().text;
        left = arithmetic(std::move(sign), std::move(left), next(tokens));
    }
    return left;
}

ExpressionPtr parsePower(TokenStream& tokens)
{
    return parseChain(tokens, std::array<std::string_view, 1>{"**"},
                      [](TokenStream& t) { return parseUnary(t); });
}

ExpressionPtr parseProduct(TokenStream& tokens)
{
    return parseChain(tokens, std::array<std::string_view, 4>{"*", "/", "//", "%"}, parsePower);
}

ExpressionPtr parseJoin(TokenStream& tokens)
{
    return parseChain(tokens, std::array<std::string_view, 1>{"~"}, parseProduct);
}

ExpressionPtr parseSum(TokenStream& tokens)
{
    return parseChain(tokens, std::array<std::string_view, 2>{"+", "-"}, parseJoin);
}

/// The comparison that is next, taken; "" for none.
std::string takeComparison(TokenStream& tokens)
{
    for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"})
        if (tokens.skip(sign))
            return std::string(sign);
    if (tokens.skipName("in"))
        return "in";
    if (tokens.isName("not") && tokens.peek(1).kind == Kind::Name && tokens.peek(1).text == "in") {
        tokens.take();
        tokens.take();
        return "not in";
    }
    return {};
}

ExpressionPtr parseComparison(TokenStream& tokens)
{
    ExpressionPtr first = parseSum(tokens);
    auto node = std::make_unique<Comparison>();
    for (std::string sign = takeComparison(tokens); !sign.empty(); sign = takeComparison(tokens))
        node->rest.emplace_back(std::move(sign), parseSum(tokens));
    if (node->rest.empty())
        return first;
    node->first = std::move(first);
    return node;
}

ExpressionPtr parseNot(TokenStream& tokens)
{
    if (!tokens.skipName("not"))
        return parseComparison(tokens);
    auto node = std::make_unique<Not>();
    node->operand = parseNot(tokens);
    return node;
}

template <class Next>
ExpressionPtr parseLogical(TokenStream& tokens, std::string_view word, Next next)
{
    ExpressionPtr left = next(tokens);
    while (tokens.skipName(word)) {
        auto node = std::make_unique<Logical>();
        node->isAnd = word == "and";
        node->first = std::move(left);
        node->second = next(tokens);
        left = std::move(node);
    }
    return left;
}

ExpressionPtr parseOr(TokenStream& tokens)
{
    return parseLogical(tokens, "or",
                        [](TokenStream& t) { return parseLogical(t, "and", parseNot); });
}

/// `[key]` or `[begin:end:step]` after a container.
ExpressionPtr parseSubscript(TokenStream& tokens, ExpressionPtr container)
{
    const auto bound = [&]() -> ExpressionPtr {
        return tokens.is(":") || tokens.is("]") ? nullptr : parseExpression(tokens);
    };
    ExpressionPtr begin = bound();
    if (tokens.is(",")) // as in numpy, which no chat template has
        tokens.fail("a comma within [ ] is not supported");
    if (!tokens.is(":")) {
        tokens.expect("]");
        if (begin == nullptr)
            tokens.fail("there is nothing within [ ]");
        auto item = std::make_unique<Item>();
        item->container = std::move(container);
        item->key = std::move(begin);
        return item;
    }
    auto slice = std::make_unique<Slice>();
    slice->container = std::move(container);
    slice->begin = std::move(begin);
    tokens.expect(":");
    slice->end = bound();
    if (tokens.skip(":"))
        slice->step = bound();
    tokens.expect("]");
    return slice;
}

ExpressionPtr parsePostfix(TokenStream& tokens, ExpressionPtr value)
{
    for (;;) {
        if (tokens.skip(".")) {
            auto item = std::make_unique<Item>();
            item->container = std::move(value);
            item->key = std::make_unique<Literal>(tokens.expectName());
            item->dotted = true;
            value = std::move(item);
        } else if (tokens.skip("[")) {
            value = parseSubscript(tokens, std::move(value));
        } else if (tokens.is("(")) {
            auto call = std::make_unique<Call>();
            call->callee = std::move(value);
            call->arguments = parseArguments(tokens);
            value = std::move(call);
        } else {
            return value;
        }
    }
}

/// Whether a test without brackets takes what is next as its argument: `x is divisibleby 3`.
bool takesArgument(const TokenStream& tokens)
{
    const Token& next = tokens.peek();
    if (next.kind == Kind::Name)
        return next.text != "else" && next.text != "or" && next.text != "and" && next.text != "is"
               && next.text != "if" && next.text != "not" && next.text != "in";
    return next.kind == Kind::String || next.kind == Kind::Integer || next.kind == Kind::Float
           || tokens.is("[") || tokens.is("{");
}

ExpressionPtr parseTest(TokenStream& tokens, ExpressionPtr input)
{
    auto test = std::make_unique<Test>();
    test->input = std::move(input);
    test->negated = tokens.skipName("not");
    test->name = tokens.expectName();
    if (tokens.is("("))
        test->arguments = parseArguments(tokens);
    else if (takesArgument(tokens))
        test->arguments.positional.push_back(parsePostfix(tokens, parsePrimary(tokens)));
    return test;
}

ExpressionPtr parseFilters(TokenStream& tokens, ExpressionPtr value)
{
    for (;;) {
        if (tokens.skip("|")) {
            for (auto& [name, arguments] : parseFilterChain(tokens)) {
                auto filter = std::make_unique<Filter>();
                filter->input = std::move(value);
                filter->name = name;
                filter->arguments = std::move(arguments);
                value = std::move(filter);
            }
        } else if (tokens.skipName("is")) {
            value = parseTest(tokens, std::move(value));
        } else if (tokens.is("(")) {
            value = parsePostfix(tokens, std::move(value));
        } else {
            return value;
        }
    }
}

ExpressionPtr parseUnary(TokenStream& tokens, bool withFilters)
{
    ExpressionPtr value;
    if (tokens.skip("-")) {
        auto node = std::make_unique<Negation>();
        node->operand = parseUnary(tokens, false);
        value = std::move(node);
    } else if (tokens.skip("+")) {
        value = parseUnary(tokens, false);
    } else {
        value = parsePostfix(tokens, parsePrimary(tokens));
    }
    return withFilters ? parseFilters(tokens, std::move(value)) : std::move(value);
}

ExpressionPtr parseDict(TokenStream& tokens)
{
    auto dict = std::make_unique<DictOf>();
    tokens.expect("{");
    while (!tokens.skip("}")) {
        if (!dict->entries.empty())
            tokens.expect(",");
        if (tokens.skip("}"))
            break;
        ExpressionPtr key = parseExpression(tokens);
        tokens.expect(":");
        dict->entries.emplace_back(std::move(key), parseExpression(tokens));
    }
    return dict;
}

/// Elements up to the closing bracket, which is taken.
std::unique_ptr<ListOf> parseElements(TokenStream& tokens, std::string_view closing)
{
    auto list = std::make_unique<ListOf>();
    while (!tokens.skip(closing)) {
        if (!list->elements.empty())
            tokens.expect(",");
        if (tokens.skip(closing))
            break;
        list->elements.push_back(parseExpression(tokens));
    }
    return list;
}

ExpressionPtr parseBrackets(TokenStream& tokens)
{
    tokens.expect("(");
    if (tokens.is(")"))
        return parseElements(tokens, ")");
    ExpressionPtr inner = parseTuple(tokens);
    tokens.expect(")");
    return inner;
}

ExpressionPtr numberOf(TokenStream& tokens, const Token& token)
{
    const char* end = token.text.data() + token.text.size();
    if (token.kind == Kind::Float) {
        double value = 0;
        std::from_chars(token.text.data(), end, value);
        return std::make_unique<Literal>(value);
    }
    std::int64_t value = 0;
    if (std::from_chars(token.text.data(), end, value).ec != std::errc())
        tokens.fail("the number " + token.text + " is too large");
    return std::make_unique<Literal>(value);
}

ExpressionPtr parsePrimary(TokenStream& tokens)
{
    if (tokens.is("("))
        return parseBrackets(tokens);
    if (tokens.skip("["))
        return parseElements(tokens, "]");
    if (tokens.is("{"))
        return parseDict(tokens);
    Token token = tokens.take();
    switch (token.kind) {
    case Kind::String:
        while (tokens.peek().kind == Kind::String) // neighbours are one string
            token.text += tokens.take().text;
        return std::make_unique<Literal>(std::move(token.text));
    case Kind::Integer:
    case Kind::Float:
        return numberOf(tokens, token);
    case Kind::Name:
        if (token.text == "true" || token.text == "True")
            return std::make_unique<Literal>(true);
        if (token.text == "false" || token.text == "False")
            return std::make_unique<Literal>(false);
        if (token.text == "none" || token.text == "None")
            return std::make_unique<Literal>(Value());
        return std::make_unique<Name>(std::move(token.text));
    default:
        tokens.fail("a value is expected"
                    + (token.text.empty() ? std::string() : " and not " + token.text));
    }
}

} // namespace

ExpressionPtr parseExpression(TokenStream& tokens, bool withCondition)
{
    ExpressionPtr value = parseOr(tokens);
    while (withCondition && tokens.skipName("if")) {
        auto node = std::make_unique<Conditional>();
        node->then = std::move(value);
        node->condition = parseOr(tokens);
        if (tokens.skipName("else"))
            node->otherwise = parseExpression(tokens);
        value = std::move(node);
    }
    return value;
}

ExpressionPtr parseTuple(TokenStream& tokens, bool withCondition)
{
    ExpressionPtr first = parseExpression(tokens, withCondition);
    if (!tokens.is(","))
        return first;
    auto list = std::make_unique<ListOf>();
    list->elements.push_back(std::move(first));
    while (tokens.skip(",")) {
        const Kind next = tokens.peek().kind;
        if (tokens.is(")") || next == Kind::TagEnd || next == Kind::PrintEnd)
            break;
        list->elements.push_back(parseExpression(tokens, withCondition));
    }
    return list;
}

CallArguments parseArguments(TokenStream& tokens)
{
    CallArguments out;
    tokens.expect("(");
    bool first = true;
    while (!tokens.skip(")")) {
        if (!first)
            tokens.expect(",");
        first = false;
        if (tokens.skip(")"))
            break;
        if (tokens.is("*") || tokens.is("**"))
            tokens.fail("arguments with * are not supported");
        const bool named = tokens.peek().kind == Kind::Name && tokens.peek(1).kind == Kind::Sign
                           && tokens.peek(1).text == "=";
        if (named) {
            std::string name = tokens.expectName();
            tokens.expect("=");
            out.named.emplace_back(std::move(name), parseExpression(tokens));
        } else {
            if (!out.named.empty())
                tokens.fail("an argument without a name follows one with a name");
            out.positional.push_back(parseExpression(tokens));
        }
    }
    return out;
}

std::vector<std::pair<std::string, CallArguments>> parseFilterChain(TokenStream& tokens)
{
    std::vector<std::pair<std::string, CallArguments>> chain;
    do {
        std::string name = tokens.expectName();
        chain.emplace_back(std::move(name),
                           tokens.is("(") ? parseArguments(tokens) : CallArguments());
    } while (tokens.skip("|"));
    return chain;
}

} // namespace moire::capture::jinja
