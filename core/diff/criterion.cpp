// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/text.h"
#include "core/diff/grid.h"
#include "core/diff/tolerance.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace moire::diff {

namespace {

constexpr const char* spellings =
    "Criteria: bitwise, ulp<=2, abs<=1e-3, rel<=1e-3, allclose(rtol=2e-3, atol=1e-2), kl<=1e-4, "
    "topk>=0.8, routes>=1, tokens>=0.99, floor(2)";

struct Comparator
{
    std::string_view name;
    Criterion::Kind kind;
    std::string_view sign;
    std::string_view example;
};

constexpr Comparator comparators[] = {
    {"ulp", Criterion::Kind::Ulp, "<=", "2"},
    {"abs", Criterion::Kind::Abs, "<=", "1e-3"},
    {"rel", Criterion::Kind::Rel, "<=", "1e-3"},
    {"kl", Criterion::Kind::Kl, "<=", "1e-4"},
    {"topk", Criterion::Kind::TopK, ">=", "0.8"},
    {"routes", Criterion::Kind::Routes, ">=", "1"},
    {"tokens", Criterion::Kind::Tokens, ">=", "0.99"},
};

std::string numberText(double number)
{
    char buffer[32];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr};
}

/// A finite number that is not negative.
std::optional<double> sizeOf(std::string_view text)
{
    double number = 0;
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || problem != std::errc() || stop != text.data() + text.size()
        || !(std::isfinite(number) && number >= 0))
        return std::nullopt;
    return number;
}

class CriterionReader
{
public:
    explicit CriterionReader(std::string_view text)
        : m_text(text)
    {
        for (const char c : text)
            if (c != ' ' && c != '\t')
                m_word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }

    Result<Criterion> read() const
    {
        if (m_word == "bitwise")
            return Criterion{Criterion::Kind::Bitwise, 0, 0, 5, "bitwise"};
        if (const auto inner = argument("allclose"))
            return allclose(*inner);
        if (const auto inner = argument("floor"))
            return floor(*inner);
        for (const Comparator& comparator : comparators)
            if (const std::string_view word = m_word; word.starts_with(comparator.name))
                return compared(comparator, word.substr(comparator.name.size()));
        return trouble("is no criterion", spellings);
    }

private:
    Error trouble(const std::string& what, std::string hint) const
    {
        return {Errc::Invalid, "“" + base::visibleText(m_text) + "” " + what, {}, std::move(hint)};
    }

    /// What stands between the parentheses behind `name`.
    std::optional<std::string_view> argument(std::string_view name) const
    {
        std::string_view word = m_word;
        if (!word.starts_with(name) || !word.ends_with(')'))
            return std::nullopt;
        word.remove_prefix(name.size());
        if (!word.starts_with('('))
            return std::nullopt;
        return word.substr(1, word.size() - 2);
    }

    Result<Criterion> allclose(std::string_view inner) const
    {
        const std::size_t comma = inner.find(',');
        std::string_view first = inner.substr(0, comma);
        std::string_view second =
            comma == std::string_view::npos ? std::string_view() : inner.substr(comma + 1);
        if (first.starts_with("atol=") && second.starts_with("rtol="))
            std::swap(first, second);
        if (first.starts_with("rtol="))
            first.remove_prefix(5);
        if (second.starts_with("atol="))
            second.remove_prefix(5);
        const auto rtol = sizeOf(first);
        const auto atol = sizeOf(second);
        if (!rtol || !atol)
            return trouble("needs two numbers, rtol and atol, that are not negative",
                           "Write for instance allclose(rtol=2e-3, atol=1e-2)");
        return Criterion{Criterion::Kind::Allclose, *rtol, *atol, 5,
                         "allclose(rtol=" + numberText(*rtol) + ", atol=" + numberText(*atol)
                             + ')'};
    }

    Result<Criterion> floor(std::string_view inner) const
    {
        const auto times = sizeOf(inner);
        if (!times || *times == 0)
            return trouble("needs a number above 0: how many times the noise floor",
                           "Write for instance floor(2)");
        return Criterion{Criterion::Kind::Floor, *times, 0, 5, "floor(" + numberText(*times) + ')'};
    }

    Result<Criterion> compared(const Comparator& comparator, std::string_view rest) const
    {
        Criterion criterion;
        criterion.kind = comparator.kind;
        criterion.text = comparator.name;
        if (comparator.kind == Criterion::Kind::TopK && rest.starts_with('[')) {
            const std::size_t close = rest.find(']');
            const auto size = close == std::string_view::npos || !rest.starts_with("[k=")
                                  ? std::nullopt
                                  : sizeOf(rest.substr(3, close - 3));
            if (!size || std::find(topKSizes.begin(), topKSizes.end(), *size) == topKSizes.end())
                return trouble("names no K that is kept",
                               "Write topk[k=K]>=x with K one of 1, 2, 5, 10, 20, 64");
            criterion.topK = static_cast<std::uint32_t>(*size);
            criterion.text += rest.substr(0, close + 1);
            rest.remove_prefix(close + 1);
        }
        const std::string right(comparator.sign);
        const std::string example = criterion.text + right + std::string(comparator.example);
        if (!rest.starts_with(right))
            return trouble("has to say " + std::string(comparator.name) + right + "x",
                           "Write for instance " + example);
        rest.remove_prefix(right.size());
        if (const auto share =
                rest.ends_with('%') ? sizeOf(rest.substr(0, rest.size() - 1)) : std::nullopt;
            share && comparator.sign == ">=" && *share <= 100)
            return trouble("gives a share in percent", "Shares run from 0 to 1: write "
                                                           + criterion.text + right
                                                           + numberText(*share / 100));
        const auto bound = sizeOf(rest);
        if (!bound)
            return trouble("needs a number from 0 on that is finite and no smaller than fp64 can "
                           "hold",
                           "Write for instance " + example);
        if (comparator.sign == ">=" && *bound > 1)
            return trouble("asks for a share above 1", "Shares run from 0 to 1: 0.99 is 99 %");
        if (comparator.kind == Criterion::Kind::Ulp && *bound != std::floor(*bound))
            return trouble("asks for a part of a last place", "Write a whole number");
        criterion.bound = *bound;
        criterion.text += right + numberText(*bound);
        return criterion;
    }

    std::string_view m_text;
    std::string m_word; ///< without spaces
};

} // namespace

Subject subjectOf(Criterion::Kind kind)
{
    switch (kind) {
    case Criterion::Kind::Kl:
    case Criterion::Kind::TopK:
    case Criterion::Kind::Tokens:
        return Subject::Logits;
    case Criterion::Kind::Routes:
        return Subject::Router;
    default:
        return Subject::Site;
    }
}

Result<Criterion> parseCriterion(std::string_view text)
{
    return CriterionReader(text).read();
}

} // namespace moire::diff
