// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <utility>

namespace moire::capture {

namespace {

/// Oniguruma's \s is White_Space, PCRE2's has U+180E besides; its \w has marks and connectors.
std::string_view spelledOut(char escape)
{
    switch (escape) {
    case 's':
        return R"(\p{White_Space})";
    case 'S':
        return R"(\P{White_Space})";
    default:
        return {};
    }
}

Error unsupportedPattern(const std::string& pattern, const std::string& why)
{
    return {Errc::Unsupported, "cannot use the split pattern " + pattern + ": " + why, "",
            "Give the ids of the text instead (--ids)"};
}

/// The pattern in PCRE2's syntax. Refuses what the two engines read differently.
Result<std::string> translate(const std::string& pattern)
{
    std::string out;
    bool inClass = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\\' && i + 1 < pattern.size()) {
            const char escape = pattern[++i];
            const auto replacement = spelledOut(escape);
            if (escape == 'W' || (escape == 'w' && !inClass) || escape == 'b' || escape == 'B')
                return unsupportedPattern(pattern, std::string("\\") + escape);
            if (escape == 'w')
                out += R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
            else if (!replacement.empty())
                out += replacement;
            else
                out.append(1, '\\').append(1, escape);
            // The braces of \p{…} and \x{…} are no repetition.
            if (i + 1 < pattern.size() && pattern[i + 1] == '{'
                && std::string_view("pPx").find(escape) != std::string_view::npos) {
                const std::size_t end = std::min(pattern.find('}', i), pattern.size() - 1);
                out.append(pattern, i + 1, end - i);
                i = end;
            }
            continue;
        }
        if (inClass && (c == '[' || (c == '&' && pattern.compare(i, 2, "&&") == 0)))
            return unsupportedPattern(pattern, "a set inside a set");
        // In Ruby's syntax "{n,m}+" repeats the repetition, in PCRE2 it is possessive.
        if (!inClass && c == '}' && pattern.compare(i, 2, "}+") == 0)
            return unsupportedPattern(pattern, "'+' after '{…}'");
        if (c == '[')
            inClass = true;
        else if (c == ']' && out.back() != '[')
            inClass = false;
        out.push_back(c);
    }
    return out;
}

struct CodeDeleter
{
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct MatchDeleter
{
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

std::string messageOf(int code)
{
    constexpr std::size_t longest = 256;
    PCRE2_UCHAR buffer[longest];
    return pcre2_get_error_message(code, buffer, longest) < 0
               ? "error " + std::to_string(code)
               : reinterpret_cast<const char*>(buffer);
}

std::size_t characterLength(std::string_view text, std::size_t at)
{
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        ++end;
    return end - at;
}

} // namespace

class PreTokenizer::Pattern
{
public:
    static Result<Pattern> compile(const std::string& source)
    {
        auto translated = translate(source);
        if (!translated)
            return translated.error();
        int code = 0;
        PCRE2_SIZE at = 0;
        Pattern pattern;
        pattern.m_code.reset(
            pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated->data()), translated->size(),
                          PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &code, &at, nullptr));
        if (!pattern.m_code)
            return unsupportedPattern(source, messageOf(code));
        // Without JIT (not on every processor) matching is only slower.
        pcre2_jit_compile(pattern.m_code.get(), PCRE2_JIT_COMPLETE);
        return pattern;
    }

    /// Appends the pieces of `text`: matches, and what lies between them.
    Result<void> split(std::string_view text, std::vector<std::string_view>& pieces) const
    {
        const std::unique_ptr<pcre2_match_data, MatchDeleter> match(
            pcre2_match_data_create_from_pattern(m_code.get(), nullptr));
        std::size_t handedOut = 0;
        std::size_t at = 0;
        while (at < text.size()) {
            const int found = matchAt(text, at, match.get());
            if (found == PCRE2_ERROR_NOMATCH)
                break;
            if (found < 0)
                return Error{Errc::Internal, "cannot split the text: " + messageOf(found), "",
                             "Give the ids of the text instead (--ids)"};
            const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match.get());
            if (range[0] == range[1]) {
                at = range[1] < text.size() ? range[1] + characterLength(text, range[1])
                                            : text.size();
                continue;
            }
            if (handedOut < range[0])
                pieces.push_back(text.substr(handedOut, range[0] - handedOut));
            pieces.push_back(text.substr(range[0], range[1] - range[0]));
            handedOut = at = range[1];
        }
        if (handedOut < text.size())
            pieces.push_back(text.substr(handedOut));
        return {};
    }

private:
    int matchAt(std::string_view text, std::size_t at, pcre2_match_data* match) const
    {
        const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
        const int found =
            pcre2_match(m_code.get(), subject, text.size(), at, PCRE2_NO_UTF_CHECK, match, nullptr);
        // The interpreter keeps its backtracking points on the heap, JIT code on a small stack.
        if (found == PCRE2_ERROR_JIT_STACKLIMIT)
            return pcre2_match(m_code.get(), subject, text.size(), at,
                               PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match, nullptr);
        return found;
    }
    std::unique_ptr<pcre2_code, CodeDeleter> m_code;
};

PreTokenizer::PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;
PreTokenizer::~PreTokenizer() = default;

Result<PreTokenizer> PreTokenizer::compile(const std::vector<std::string>& patterns)
{
    PreTokenizer made;
    for (const std::string& source : patterns) {
        auto pattern = Pattern::compile(source);
        if (!pattern)
            return pattern.error();
        made.m_patterns.push_back(std::move(*pattern));
    }
    return made;
}

Result<std::vector<std::string_view>> PreTokenizer::split(std::string_view text) const
{
    std::vector<std::string_view> pieces;
    if (!text.empty())
        pieces.push_back(text);
    for (const Pattern& pattern : m_patterns) {
        std::vector<std::string_view> finer;
        for (const std::string_view piece : pieces)
            if (auto done = pattern.split(piece, finer); !done)
                return done.error();
        pieces = std::move(finer);
    }
    return pieces;
}

} // namespace moire::capture
