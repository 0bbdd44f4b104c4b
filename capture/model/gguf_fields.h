// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/gguf_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace moire::capture {

/// Reads metadata of a GGUF file and remembers the first that is missing, of the wrong type or out
/// of range; after that every call returns its fallback. Ask status() before use of any value. The
/// file has to outlive the reader.
class GgufFields
{
public:
    /// `prefix` comes before every key: "llama." or nothing.
    GgufFields(const GgufFile& file, std::string prefix);

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
    bool has(std::string_view key) const { return find(key) != nullptr; }
    const GgufValue* find(std::string_view key) const;

    void fail(Errc code, std::string sentence, std::string hint);
    /// "the value of <key> is not <wanted>".
    void failType(std::string_view key, const std::string& wanted);
    Result<void> status() const;

private:
    const GgufValue* require(std::string_view key);

    const GgufFile& m_file;
    std::string m_prefix;
    std::optional<Error> m_error;
};

} // namespace moire::capture
