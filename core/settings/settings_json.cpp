// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/text.h"
#include "core/settings/settings_file.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

// RFC 8259, with the line of every value, which the JSON library of the writers does not keep.

namespace moire::settings {

namespace {

constexpr int deepest = 64;

class JsonReader
{
public:
    JsonReader(std::string_view text, std::string name)
        : m_text(text)
        , m_name(std::move(name))
    {}

    Result<Setting> read()
    {
        auto root = value(0);
        if (!root)
            return root;
        skipSpace();
        if (m_at < m_text.size())
            return trouble("has something behind its end");
        return root;
    }

private:
    Error trouble(const std::string& what) const
    {
        return settingError(m_name, m_line, "is not JSON: it " + what);
    }

    void skipSpace()
    {
        for (; m_at < m_text.size(); ++m_at) {
            const char c = m_text[m_at];
            if (c == '\n')
                ++m_line;
            else if (c != ' ' && c != '\t' && c != '\r')
                return;
        }
    }

    bool take(std::string_view word)
    {
        if (!m_text.substr(m_at).starts_with(word))
            return false;
        m_at += word.size();
        return true;
    }

    Result<Setting> value(int depth)
    {
        skipSpace();
        const std::uint32_t line = m_line;
        if (depth > deepest)
            return trouble("nests too deeply");
        if (take("{"))
            return table(depth, line);
        if (take("["))
            return list(depth, line);
        if (take("true"))
            return Setting{true, line};
        if (take("false"))
            return Setting{false, line};
        if (take("null"))
            return Setting{std::monostate(), line};
        if (m_at < m_text.size() && m_text[m_at] == '"') {
            auto held = string();
            if (!held)
                return held.error();
            return Setting{std::move(*held), line};
        }
        return number();
    }

    Result<Setting> number()
    {
        const std::size_t end =
            std::min(m_text.find_first_not_of("+-.0123456789eE", m_at), m_text.size());
        const std::string_view digits = m_text.substr(m_at, end - m_at);
        double held = 0;
        const auto [stop, problem] =
            std::from_chars(digits.data(), digits.data() + digits.size(), held);
        if (digits.empty() || problem != std::errc() || stop != digits.data() + digits.size())
            return trouble("has no value where one belongs");
        m_at = end;
        return Setting{held, m_line};
    }

    Result<Setting> list(int depth, std::uint32_t line)
    {
        Setting::List entries;
        skipSpace();
        if (take("]"))
            return Setting{std::move(entries), line};
        while (true) {
            auto entry = value(depth + 1);
            if (!entry)
                return entry;
            entries.push_back(std::move(*entry));
            skipSpace();
            if (take("]"))
                return Setting{std::move(entries), line};
            if (!take(","))
                return trouble("has neither ',' nor ']' after a value of a list");
        }
    }

    Result<Setting> table(int depth, std::uint32_t line)
    {
        Setting::Table entries;
        skipSpace();
        if (take("}"))
            return Setting{std::move(entries), line};
        while (true) {
            skipSpace();
            const std::uint32_t keyLine = m_line;
            auto key = string();
            if (!key)
                return key.error();
            if (std::any_of(entries.begin(), entries.end(),
                            [&](const auto& entry) { return entry.first == *key; }))
                return trouble("has the key “" + base::visibleText(*key) + "” twice");
            skipSpace();
            if (!take(":"))
                return trouble("has no ':' after the key “" + base::visibleText(*key) + "”");
            auto entry = value(depth + 1);
            if (!entry)
                return entry;
            entry->line = keyLine;
            entries.emplace_back(std::move(*key), std::move(*entry));
            skipSpace();
            if (take("}"))
                return Setting{std::move(entries), line};
            if (!take(","))
                return trouble("has neither ',' nor '}' after a value of a table");
        }
    }

    Result<std::string> string()
    {
        if (!take("\""))
            return trouble("has no text in quotes where one belongs");
        std::string held;
        while (m_at < m_text.size() && m_text[m_at] != '"') {
            const char c = m_text[m_at++];
            if (static_cast<unsigned char>(c) < 0x20)
                return trouble("has a control character in a text");
            if (c != '\\')
                held += c;
            else if (!escape(held))
                return trouble("has an unknown escape in a text");
        }
        if (!take("\""))
            return trouble("has a text that does not end");
        if (!base::isValidUtf8(held))
            return trouble("has a text that is not UTF-8");
        return held;
    }

    bool escape(std::string& held)
    {
        if (m_at >= m_text.size())
            return false;
        const char c = m_text[m_at++];
        constexpr std::string_view names = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        if (const std::size_t known = names.find(c); known != std::string_view::npos) {
            held += meanings[known];
            return true;
        }
        return c == 'u' && codePoint(held);
    }

    std::optional<std::uint32_t> fourDigits()
    {
        std::uint32_t code = 0;
        const char* begin = m_text.data() + m_at;
        if (m_text.size() - m_at < 4
            || std::from_chars(begin, begin + 4, code, 16).ptr != begin + 4)
            return std::nullopt;
        m_at += 4;
        return code;
    }

    /// One \u escape, or the two that make a character beyond the basic plane, as UTF-8.
    bool codePoint(std::string& held)
    {
        auto code = fourDigits();
        if (code && *code >= 0xD800 && *code < 0xDC00) {
            const auto low = take("\\u") ? fourDigits() : std::nullopt;
            if (!low || *low < 0xDC00 || *low > 0xDFFF)
                return false;
            code = 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00);
        }
        if (!code || (*code >= 0xDC00 && *code <= 0xDFFF))
            return false;
        const auto add = [&held](std::uint32_t byte) { held += static_cast<char>(byte); };
        const auto tail = [&](unsigned shift) { add(0x80U | ((*code >> shift) & 0x3FU)); };
        if (*code < 0x80) {
            add(*code);
        } else if (*code < 0x800) {
            add(0xC0U | (*code >> 6U));
            tail(0);
        } else if (*code < 0x10000) {
            add(0xE0U | (*code >> 12U));
            tail(6);
            tail(0);
        } else {
            add(0xF0U | (*code >> 18U));
            tail(12);
            tail(6);
            tail(0);
        }
        return true;
    }

    std::string_view m_text;
    std::string m_name;
    std::size_t m_at = 0;
    std::uint32_t m_line = 1;
};

} // namespace

Result<Setting> parseJson(std::string_view text, const std::string& name)
{
    auto root = JsonReader(text, name).read();
    if (root && root->table() == nullptr)
        return settingError(name, root->line, "holds no table at the top",
                            "Put everything into one pair of braces: {…}");
    return root;
}

} // namespace moire::settings
