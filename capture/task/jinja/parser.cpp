// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/jinja/parser.h"

#include "capture/task/jinja/statements.h"

#include <algorithm>
#include <array>

namespace moire::capture::jinja {

namespace {

using Kind = Token::Kind;

/// A tag of more tokens is no chat template's; it would make the parser's calls nest too deep.
constexpr std::size_t mostTagTokens = 1000;

std::string wordOf(const Token& token)
{
    switch (token.kind) {
    case Kind::End:
        return "the end of the template";
    case Kind::TagEnd:
        return "the end of the tag";
    case Kind::PrintEnd:
        return "}}";
    default:
        return token.text.empty() ? "a tag" : token.text;
    }
}

class Parser
{
public:
    explicit Parser(std::vector<Token> tokens)
        : m_tokens(std::move(tokens))
    {}

    Block run()
    {
        Block block = parseBlock({});
        if (m_tokens.peek().kind != Kind::End)
            m_tokens.fail("the tag " + m_tokens.peek(1).text + " closes nothing");
        return block;
    }

private:
    /// Statements up to a tag that begins with one of `ends`; "{% end" stays to be read.
    Block parseBlock(std::initializer_list<std::string_view> ends)
    {
        constexpr unsigned deepestBlock = 50;
        if (++m_depth > deepestBlock)
            m_tokens.fail("blocks are nested too deep");
        Block block;
        while (m_tokens.peek().kind != Kind::End && !endsHere(ends))
            block.push_back(parseStatement());
        --m_depth;
        return block;
    }

    bool endsHere(std::initializer_list<std::string_view> ends) const
    {
        if (m_tokens.peek().kind != Kind::TagBegin)
            return false;
        const std::string& word = m_tokens.peek(1).text;
        return std::find(ends.begin(), ends.end(), word) != ends.end() || word.starts_with("end")
               || word == "else" || word == "elif";
    }

    StatementPtr parseStatement()
    {
        Token token = m_tokens.take();
        if (token.kind == Kind::Text)
            return std::make_unique<TextOut>(std::move(token.text));
        if (token.kind == Kind::PrintBegin) {
            auto print = std::make_unique<Print>(parseTuple(m_tokens));
            m_tokens.expectKind(Kind::PrintEnd, "}}");
            return print;
        }
        return parseTag(m_tokens.expectName());
    }

    StatementPtr parseTag(const std::string& word)
    {
        if (word == "if")
            return parseIf();
        if (word == "for")
            return parseFor();
        if (word == "set")
            return parseSet();
        if (word == "macro")
            return parseMacro();
        if (word == "filter")
            return parseFilterBlock();
        if (word == "generation") {
            auto group = std::make_unique<Group>();
            endTag();
            group->body = inner("endgeneration");
            return group;
        }
        if (word == "break" || word == "continue") {
            if (m_loops == 0)
                m_tokens.fail(word + " stands outside a loop");
            endTag();
            return std::make_unique<Leave>(word == "break" ? Flow::Break : Flow::Continue);
        }
        m_tokens.fail("the tag " + word + " is not supported");
    }

    void endTag() { m_tokens.expectKind(Kind::TagEnd, "%}"); }

    /// "{% word %}", taken.
    void closing(std::string_view word)
    {
        if (m_tokens.peek().kind != Kind::TagBegin || m_tokens.peek(1).text != word)
            m_tokens.fail("the tag " + std::string(word) + " is missing before "
                          + wordOf(m_tokens.peek(m_tokens.peek().kind == Kind::End ? 0 : 1)));
        m_tokens.take();
        m_tokens.take();
        if (m_tokens.peek().kind == Kind::Name) // {% endmacro name %}
            m_tokens.take();
        endTag();
    }

    /// A block with a scope of its own, and its closing tag.
    Block inner(std::string_view end)
    {
        ++m_scopes;
        Block block = parseBlock({end});
        --m_scopes;
        closing(end);
        return block;
    }

    StatementPtr parseIf()
    {
        auto node = std::make_unique<If>();
        for (;;) {
            ExpressionPtr condition = parseTuple(m_tokens, false);
            endTag();
            node->branches.emplace_back(std::move(condition), parseBlock({"elif", "else"}));
            if (m_tokens.peek(1).text != "elif")
                break;
            m_tokens.take();
            m_tokens.take();
        }
        node->otherwise = parseElse();
        closing("endif");
        return node;
    }

    Block parseElse()
    {
        if (m_tokens.peek(1).text != "else" || m_tokens.peek().kind != Kind::TagBegin)
            return {};
        m_tokens.take();
        m_tokens.take();
        endTag();
        return parseBlock({});
    }

    std::vector<std::string> parseNames(std::string_view until)
    {
        const bool bracketed = m_tokens.skip("(");
        std::vector<std::string> names{m_tokens.expectName()};
        while (m_tokens.skip(",") && !m_tokens.isName(until) && !m_tokens.is(until))
            names.push_back(m_tokens.expectName());
        if (bracketed)
            m_tokens.expect(")");
        return names;
    }

    StatementPtr parseFor()
    {
        auto node = std::make_unique<For>();
        node->names = parseNames("in");
        if (!m_tokens.skipName("in"))
            m_tokens.fail("a loop needs the word in");
        node->over = parseTuple(m_tokens, false);
        if (m_tokens.skipName("if"))
            node->condition = parseExpression(m_tokens);
        if (m_tokens.isName("recursive"))
            m_tokens.fail("recursive loops are not supported");
        endTag();
        ++m_scopes;
        ++m_loops;
        node->body = parseBlock({"else"});
        --m_loops;
        --m_scopes;
        node->otherwise = parseElse();
        closing("endfor");
        return node;
    }

    StatementPtr parseSet()
    {
        std::vector<std::string> names = parseNames("=");
        std::string field;
        if (m_tokens.skip("."))
            field = m_tokens.expectName();
        if (m_tokens.skip("=")) {
            auto node = std::make_unique<Set>();
            node->names = std::move(names);
            node->field = std::move(field);
            node->value = parseTuple(m_tokens);
            endTag();
            return node;
        }
        if (names.size() != 1 || !field.empty())
            m_tokens.fail("this kind of set block is not supported");
        auto node = std::make_unique<Captured>();
        node->name = names.front();
        if (m_tokens.skip("|"))
            node->filters = parseFilterChain(m_tokens);
        endTag();
        node->body = captured("endset");
        return node;
    }

    StatementPtr parseFilterBlock()
    {
        auto node = std::make_unique<Captured>();
        node->filters = parseFilterChain(m_tokens);
        endTag();
        node->body = captured("endfilter");
        return node;
    }

    /// What a body writes is kept: a loop around it cannot be left from within.
    Block captured(std::string_view end)
    {
        const unsigned loops = std::exchange(m_loops, 0);
        Block body = inner(end);
        m_loops = loops;
        return body;
    }

    StatementPtr parseMacro()
    {
        if (m_scopes > 0)
            m_tokens.fail("a macro within a loop or another block is not supported");
        auto node = std::make_unique<MacroDefinition>();
        node->name = m_tokens.expectName();
        m_tokens.expect("(");
        while (!m_tokens.skip(")")) {
            if (!node->parameters.empty())
                m_tokens.expect(",");
            std::string name = m_tokens.expectName();
            ExpressionPtr fallback = m_tokens.skip("=") ? parseExpression(m_tokens) : nullptr;
            node->parameters.emplace_back(std::move(name), std::move(fallback));
        }
        endTag();
        node->body = captured("endmacro");
        return node;
    }

    TokenStream m_tokens;
    unsigned m_depth = 0;  ///< blocks around this place
    unsigned m_scopes = 0; ///< of them with a scope of their own
    unsigned m_loops = 0;  ///< loops that break can leave
};

void checkTags(const std::vector<Token>& tokens)
{
    std::size_t inTag = 0;
    for (const Token& token : tokens) {
        const bool begins = token.kind == Kind::TagBegin || token.kind == Kind::PrintBegin;
        inTag = begins || token.kind == Kind::Text ? 0 : inTag + 1;
        if (inTag > mostTagTokens)
            throw Failure("the tag in line " + std::to_string(token.line) + " is too long");
    }
}

} // namespace

const Token& TokenStream::peek(std::size_t ahead) const
{
    return m_tokens[std::min(m_next + ahead, m_tokens.size() - 1)];
}

Token TokenStream::take()
{
    Token token = peek();
    m_next = std::min(m_next + 1, m_tokens.size() - 1);
    return token;
}

bool TokenStream::is(std::string_view sign) const
{
    return peek().kind == Kind::Sign && peek().text == sign;
}

bool TokenStream::isName(std::string_view name) const
{
    return peek().kind == Kind::Name && peek().text == name;
}

bool TokenStream::skip(std::string_view sign)
{
    const bool found = is(sign);
    if (found)
        take();
    return found;
}

bool TokenStream::skipName(std::string_view name)
{
    const bool found = isName(name);
    if (found)
        take();
    return found;
}

void TokenStream::expect(std::string_view sign)
{
    if (!skip(sign))
        fail(std::string(sign) + " is expected and not " + wordOf(peek()));
}

void TokenStream::expectKind(Kind kind, std::string_view what)
{
    if (peek().kind != kind)
        fail(std::string(what) + " is expected and not " + wordOf(peek()));
    take();
}

std::string TokenStream::expectName()
{
    if (peek().kind != Kind::Name)
        fail("a name is expected and not " + wordOf(peek()));
    return take().text;
}

void TokenStream::fail(const std::string& sentence) const
{
    throw Failure(sentence + ", in line " + std::to_string(peek().line) + " of the template");
}

Block parse(std::string_view source)
{
    std::vector<Token> tokens = tokensOf(source);
    checkTags(tokens);
    return Parser(std::move(tokens)).run();
}

} // namespace moire::capture::jinja
