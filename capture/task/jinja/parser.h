// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/task/jinja/lexer.h"
#include "capture/task/jinja/syntax.h"

#include <string_view>

namespace moire::capture::jinja {

/// The statements of a template. Failure names the line, and the construct where it is one that
/// this part of Jinja does not have. Filters, tests and functions are looked up when they are used,
/// as most templates have parts that a conversation never reaches.
Block parse(std::string_view source);

/// A place in the tokens of a template.
class TokenStream
{
public:
    explicit TokenStream(std::vector<Token> tokens)
        : m_tokens(std::move(tokens))
    {}

    const Token& peek(std::size_t ahead = 0) const;
    Token take();
    bool is(std::string_view sign) const;     ///< an operator or bracket is next
    bool isName(std::string_view name) const; ///< that word is next
    bool skip(std::string_view sign);         ///< takes it if it is next
    bool skipName(std::string_view name);
    void expect(std::string_view sign);
    void expectKind(Token::Kind kind, std::string_view what);
    std::string expectName();
    [[noreturn]] void fail(const std::string& sentence) const;

private:
    std::vector<Token> m_tokens;
    std::size_t m_next = 0;
};

/// An expression; `withCondition`: also `a if b else c`.
ExpressionPtr parseExpression(TokenStream& tokens, bool withCondition = true);

/// One or more expressions with commas between: a list of them where there is a comma.
ExpressionPtr parseTuple(TokenStream& tokens, bool withCondition = true);

/// `(…)` of a call, a filter or a test.
CallArguments parseArguments(TokenStream& tokens);

/// `name`, `name(…)` and further filters after `|`.
std::vector<std::pair<std::string, CallArguments>> parseFilterChain(TokenStream& tokens);

} // namespace moire::capture::jinja
