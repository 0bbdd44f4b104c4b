// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/settings/settings_file.h"

#include <toml++/toml.h>

#include <algorithm>

namespace moire::settings {

namespace {

Setting settingOf(const toml::node& node, std::uint32_t line);

Setting tableOf(const toml::table& table, std::uint32_t line)
{
    Setting::Table entries;
    for (const auto& [key, node] : table)
        entries.emplace_back(std::string(key.str()), settingOf(node, key.source().begin.line));
    // toml++ keeps a table by name; people read it by line.
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.second.line < b.second.line; });
    return {std::move(entries), line};
}

Setting settingOf(const toml::node& node, std::uint32_t line)
{
    if (const auto* table = node.as_table())
        return tableOf(*table, line);
    if (const auto* array = node.as_array()) {
        Setting::List list;
        for (const toml::node& entry : *array)
            list.push_back(settingOf(entry, entry.source().begin.line));
        return {std::move(list), line};
    }
    if (const auto* text = node.as_string())
        return {text->get(), line};
    if (const auto* flag = node.as_boolean())
        return {flag->get(), line};
    if (const auto* integer = node.as_integer())
        return {static_cast<double>(integer->get()), line};
    if (const auto* real = node.as_floating_point())
        return {real->get(), line};
    return {std::monostate(), line}; // dates and times, which nothing here takes
}

} // namespace

Result<Setting> parseToml(std::string_view text, const std::string& name)
{
    try {
        return tableOf(toml::parse(text), 1);
    } catch (const toml::parse_error& error) {
        return settingError(name, error.source().begin.line,
                            "is not TOML: " + std::string(error.description()));
    }
}

} // namespace moire::settings
