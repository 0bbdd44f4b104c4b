// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace moire::settings {

/// A value of a file that people write by hand, with the line that it stands on, so that a mistake
/// can be named where it is. Integers are numbers.
struct Setting
{
    using List = std::vector<Setting>;
    using Table = std::vector<std::pair<std::string, Setting>>; ///< in file order
    std::variant<std::monostate, bool, double, std::string, List, Table> value;
    std::uint32_t line = 0; ///< 1-based; of the value, of the key where it is a table's

    const std::string* text() const { return std::get_if<std::string>(&value); }
    const List* list() const { return std::get_if<List>(&value); }
    const Table* table() const { return std::get_if<Table>(&value); }
    std::optional<bool> flag() const;
    const Setting* find(std::string_view key) const; ///< null: no table, or no such key
};

/// Reads a file in TOML, or in JSON where it ends in .json or its first character is '{'. The root
/// is a table. Errors: NotFound, Io; Invalid with "name:line" as the place.
Result<Setting> readSettings(const std::filesystem::path& path);
Result<Setting> parseSettings(std::string_view text, const std::string& name);

/// The two readers behind parseSettings. A key that stands twice in a table is refused.
Result<Setting> parseToml(std::string_view text, const std::string& name);
Result<Setting> parseJson(std::string_view text, const std::string& name);

/// Invalid at name:line.
Error settingError(const std::string& name, std::uint32_t line, std::string sentence,
                   std::string hint = {});

} // namespace moire::settings
