// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/jinja/lexer.h"

#include "capture/task/jinja/characters.h"
#include "capture/task/jinja/value.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace moire::capture::jinja {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool beginsName(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool isPlainSpace(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/// "\r\n" and "\r" as "\n", and without one line break at the end.
std::string prepared(std::string_view source)
{
    std::string text = replaced(replaced(source, "\r\n", "\n", -1), "\r", "\n", -1);
    if (text.ends_with('\n'))
        text.pop_back();
    return text;
}

class Lexer
{
public:
    explicit Lexer(std::string_view source)
        : m_source(prepared(source))
    {}

    std::vector<Token> run()
    {
        while (m_at < m_source.size())
            readText();
        add(Token::Kind::End, "");
        return std::move(m_tokens);
    }

private:
    std::string_view rest() const { return std::string_view(m_source).substr(m_at); }

    [[noreturn]] void fail(const std::string& sentence) const
    {
        throw Failure(sentence + " in line " + std::to_string(m_line));
    }

    void add(Token::Kind kind, std::string text)
    {
        m_tokens.push_back({kind, std::move(text), m_line});
    }

    void advance(std::size_t count)
    {
        const std::string_view passed = rest().substr(0, count);
        m_line += static_cast<std::size_t>(std::count(passed.begin(), passed.end(), '\n'));
        m_at += passed.size();
    }

    void skipSpace()
    {
        const std::string_view text = rest();
        advance(text.size() - stripped(text, Ends::Left).size());
    }

    /// Text up to the next tag, and that tag.
    void readText()
    {
        std::size_t size = 0;
        const auto opens = [&](std::size_t at) {
            const std::string_view two = rest().substr(at, 2);
            return two == "{{" || two == "{%" || two == "{#";
        };
        while (size < rest().size() && !opens(size))
            ++size;
        const std::string_view text = rest().substr(0, size);
        if (size == rest().size()) {
            addText(std::string(text));
            advance(size);
            return;
        }
        const char kind = rest()[size + 1];
        const char sign = size + 2 < rest().size() ? rest()[size + 2] : '\0';
        std::string kept(text);
        if (sign == '-')
            kept = stripped(text, Ends::Right);
        else if (sign != '+' && kind != '{')
            kept = withoutIndent(text);
        addText(std::move(kept));
        const bool hasSign = sign == '-' || (sign == '+' && kind != '{');
        advance(size + (hasSign ? 3 : 2));
        m_lineBegins = false;
        readTag(kind);
    }

    /// Without the white space between the last line break and a tag that begins its line.
    std::string withoutIndent(std::string_view text) const
    {
        const std::size_t lineBreak = text.rfind('\n');
        const std::size_t begin = lineBreak == std::string_view::npos ? 0 : lineBreak + 1;
        const bool onlySpace = stripped(text.substr(begin), Ends::Left).empty();
        return std::string((begin > 0 || m_lineBegins) && onlySpace ? text.substr(0, begin) : text);
    }

    void addText(std::string text)
    {
        if (!text.empty())
            add(Token::Kind::Text, std::move(text));
    }

    void readTag(char kind)
    {
        if (kind == '#')
            return skipComment();
        const bool print = kind == '{';
        add(print ? Token::Kind::PrintBegin : Token::Kind::TagBegin, "");
        const std::string_view closing = print ? "}}" : "%}";
        m_open.clear();
        while (!closes(closing))
            readToken();
        add(print ? Token::Kind::PrintEnd : Token::Kind::TagEnd, "");
        passEnd(closing, !print);
    }

    /// Whether the tag ends here. Inside brackets "}}" are two of them.
    bool closes(std::string_view closing)
    {
        while (!rest().empty() && isPlainSpace(rest().front()))
            advance(1);
        if (rest().empty())
            fail("the tag is not closed");
        if (!m_open.empty())
            return false;
        const bool signedEnd = rest().front() == '-' || rest().front() == '+';
        return rest().starts_with(closing)
               || (signedEnd && rest().substr(1).starts_with(closing)
                   && (rest().front() == '-' || closing != "}}"));
    }

    /// The end of a tag with what it takes off: all white space, or (of tags that print nothing)
    /// one line break.
    void passEnd(std::string_view closing, bool takesLineBreak)
    {
        const char sign = rest().front();
        advance(closing.size() + (sign == '-' || sign == '+' ? 1 : 0));
        const std::size_t begin = m_at;
        if (sign == '-')
            skipSpace();
        else if (takesLineBreak && sign != '+' && rest().starts_with('\n'))
            advance(1);
        m_lineBegins = m_at > begin && m_source[m_at - 1] == '\n';
    }

    void skipComment()
    {
        const std::size_t end = rest().find("#}");
        if (end == std::string_view::npos)
            fail("the comment is not closed");
        const char sign = end > 0 ? rest()[end - 1] : '\0';
        const bool hasSign = sign == '-' || sign == '+';
        advance(end - (hasSign ? 1 : 0));
        passEnd("#}", true);
    }

    void readToken()
    {
        const char c = rest().front();
        if (c == '\'' || c == '"')
            return readString(c);
        if (isDigit(c))
            return readNumber();
        if (beginsName(c)) {
            const std::string_view text = rest();
            const auto end = std::find_if_not(text.begin(), text.end(), [](char letter) {
                return beginsName(letter) || isDigit(letter);
            });
            std::string name(text.begin(), end);
            advance(name.size());
            return add(Token::Kind::Name, std::move(name));
        }
        readSign();
    }

    void readNumber()
    {
        std::size_t size = 0;
        bool isFloat = false;
        const std::string_view text = rest();
        while (size < text.size() && (isDigit(text[size]) || text[size] == '_'))
            ++size;
        if (size + 1 < text.size() && text[size] == '.' && isDigit(text[size + 1])) {
            isFloat = true;
            ++size;
            while (size < text.size() && isDigit(text[size]))
                ++size;
        }
        std::string digits(text.substr(0, size));
        std::erase(digits, '_');
        advance(size);
        add(isFloat ? Token::Kind::Float : Token::Kind::Integer, std::move(digits));
    }

    void readSign()
    {
        constexpr std::array<std::string_view, 24> signs{
            "==", "!=", "<=", ">=", "//", "**", "(", ")", "[", "]", "{", "}",
            ",",  ".",  ":",  "|",  "=",  "<",  ">", "+", "-", "*", "/", "%"};
        const auto sign = std::find_if(signs.begin(), signs.end(), [&](std::string_view candidate) {
            return rest().starts_with(candidate);
        });
        if (sign == signs.end()) {
            if (rest().front() != '~')
                fail("the sign " + std::string(characters(rest().substr(0, 4)).front())
                     + " is not expected");
            advance(1);
            return add(Token::Kind::Sign, "~");
        }
        if (*sign == "(" || *sign == "[" || *sign == "{")
            m_open += sign->front();
        else if (*sign == ")" || *sign == "]" || *sign == "}")
            closeBracket(sign->front());
        add(Token::Kind::Sign, std::string(*sign));
        advance(sign->size());
    }

    void closeBracket(char bracket)
    {
        const char opening = bracket == ')' ? '(' : bracket == ']' ? '[' : '{';
        if (m_open.empty() || m_open.back() != opening)
            fail(std::string("the bracket ") + bracket + " has no opening one");
        m_open.pop_back();
    }

    void readString(char quote)
    {
        std::string value;
        std::size_t at = 1;
        const std::string_view text = rest();
        while (at < text.size() && text[at] != quote) {
            if (text[at] != '\\') {
                value += text[at++];
                continue;
            }
            at += readEscape(text.substr(at), value);
        }
        if (at >= text.size())
            fail("the string is not closed");
        add(Token::Kind::String, std::move(value));
        advance(at + 1);
    }

    /// One escape as in a Python string; returns its length.
    std::size_t readEscape(std::string_view text, std::string& value) const
    {
        constexpr std::string_view letters = "nrtbfva0\\'\"";
        constexpr std::string_view meanings{"\n\r\t\b\f\v\a\0\\'\"", letters.size()};
        const char letter = text.size() > 1 ? text[1] : '\0';
        if (letter == '\n')
            return 2;
        if (const auto at = letters.find(letter); at != std::string_view::npos && letter != '\0') {
            value += meanings[at];
            return 2;
        }
        const std::size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
        if (digits == 0) { // Python keeps the backslash
            value += '\\';
            return 1;
        }
        constexpr int hexadecimal = 16;
        utf8proc_int32_t code = 0;
        const std::string_view number = text.substr(2, digits);
        const auto end =
            std::from_chars(number.data(), number.data() + number.size(), code, hexadecimal);
        if (number.size() < digits || end.ptr != number.data() + digits
            || !utf8proc_codepoint_valid(code))
            fail("the escape in a string is not complete");
        constexpr std::size_t longest = 4;
        std::array<utf8proc_uint8_t, longest> bytes{};
        const auto size = utf8proc_encode_char(code, bytes.data());
        value.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
        return 2 + digits;
    }

    std::string m_source;
    std::size_t m_at = 0;
    std::size_t m_line = 1;
    bool m_lineBegins = true; ///< nothing but tags has come since the last line break
    std::string m_open;       ///< brackets that are open in this tag
    std::vector<Token> m_tokens;
};

} // namespace

std::vector<Token> tokensOf(std::string_view source)
{
    return Lexer(source).run();
}

} // namespace moire::capture::jinja
