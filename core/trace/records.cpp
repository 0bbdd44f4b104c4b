// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/trace/records.h"

#include <array>

namespace moire::trace {

namespace {

template <class Enum, std::size_t N>
std::optional<Enum> fromNumber(std::uint64_t number, const std::array<std::string_view, N>&)
{
    if (number >= N)
        return std::nullopt;
    return static_cast<Enum>(number);
}

constexpr std::array<std::string_view, 15> kindNames{
    "other",   "embedding",        "norm",       "projection", "projection input",
    "rotated", "attention output", "mlp output", "residual",   "router",
    "experts", "expert slots",     "head",       "activation", "rotary table"};
constexpr std::array<std::string_view, 4> phaseNames{"prefill", "decode", "forced", "prefix"};
constexpr std::array<std::string_view, 2> constructionNames{"once", "steps"};
constexpr std::array<std::string_view, 3> levelNames{"digest", "topk", "full"};

} // namespace

std::string_view nameOf(TapKind kind)
{
    return kindNames[static_cast<std::size_t>(kind)];
}

std::string_view nameOf(Phase phase)
{
    return phaseNames[static_cast<std::size_t>(phase)];
}

std::string_view nameOf(Construction construction)
{
    return constructionNames[static_cast<std::size_t>(construction)];
}

std::string_view nameOf(Level level)
{
    return levelNames[static_cast<std::size_t>(level)];
}

std::optional<TapKind> tapKindFromNumber(std::uint64_t number)
{
    return fromNumber<TapKind>(number, kindNames);
}

std::optional<Phase> phaseFromNumber(std::uint64_t number)
{
    return fromNumber<Phase>(number, phaseNames);
}

std::optional<Construction> constructionFromNumber(std::uint64_t number)
{
    return fromNumber<Construction>(number, constructionNames);
}

std::optional<Level> levelFromNumber(std::uint64_t number)
{
    return fromNumber<Level>(number, levelNames);
}

std::optional<Level> levelFromName(std::string_view name)
{
    for (std::size_t i = 0; i < levelNames.size(); ++i)
        if (levelNames[i] == name)
            return static_cast<Level>(i);
    return std::nullopt;
}

} // namespace moire::trace
