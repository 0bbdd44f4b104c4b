// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace moire::capture {

/// What to do about a file of the model that does not fit the rest of it.
inline constexpr auto comparePublished =
    "Compare the file with the one that the model was published with";

/// Parses JSON from a file that we do not trust: at most `maxDepth` levels of nesting, no key twice
/// in one object, UTF-8 checked. `place` is the file's name for the error. Errors: Damaged.
Result<nlohmann::json> parseJson(std::string_view text, const std::string& place, int maxDepth);

/// Reads the fields of one JSON object and remembers the first that is missing, of the wrong type
/// or out of range; after that every call returns its fallback. Ask status() before use of any
/// value. The object has to outlive the reader. A null counts as absent.
class JsonFields
{
public:
    /// `prefix` comes before every key in messages, e.g. "rope_scaling.".
    JsonFields(const nlohmann::json& object, std::string place, std::string prefix = {});

    /// Integers within [low, high].
    std::uint32_t count(std::string_view key, std::uint32_t low, std::uint32_t high);
    std::uint32_t countOr(std::string_view key, std::uint32_t fallback, std::uint32_t low,
                          std::uint32_t high);
    /// Finite numbers > 0.
    double positive(std::string_view key);
    double positiveOr(std::string_view key, double fallback);
    bool flagOr(std::string_view key, bool fallback);
    std::string text(std::string_view key);
    std::string textOr(std::string_view key, std::string fallback);
    bool has(std::string_view key) const;
    /// True for a null, too.
    bool names(std::string_view key) const;
    /// The value, or nothing when it is absent or null.
    const nlohmann::json* find(std::string_view key) const;

    void fail(Errc code, std::string sentence, std::string hint = comparePublished);
    /// "<key> is <what it is> and not <wanted>".
    void failType(std::string_view key, const nlohmann::json& value, const std::string& wanted);
    Result<void> status() const;

private:
    const nlohmann::json* require(std::string_view key);
    std::uint32_t countFrom(std::string_view key, const nlohmann::json& value, std::uint32_t low,
                            std::uint32_t high);
    double positiveFrom(std::string_view key, const nlohmann::json& value);
    std::string textFrom(std::string_view key, const nlohmann::json& value);

    const nlohmann::json& m_object;
    std::string m_place;
    std::string m_prefix;
    std::optional<Error> m_error;
};

} // namespace moire::capture
