// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/settings/settings_file.h"

#include "core/base/file.h"

#include <algorithm>

namespace moire::settings {

namespace {

/// Nobody writes a longer one by hand.
constexpr std::size_t largestFile = std::size_t{4} << 20U;

} // namespace

std::optional<bool> Setting::flag() const
{
    const bool* held = std::get_if<bool>(&value);
    return held == nullptr ? std::nullopt : std::optional(*held);
}

const Setting* Setting::find(std::string_view key) const
{
    const Table* entries = table();
    if (entries == nullptr)
        return nullptr;
    const auto at = std::find_if(entries->begin(), entries->end(),
                                 [key](const auto& entry) { return entry.first == key; });
    return at == entries->end() ? nullptr : &at->second;
}

Error settingError(const std::string& name, std::uint32_t line, std::string sentence,
                   std::string hint)
{
    return {Errc::Invalid, std::move(sentence),
            line == 0 ? name : name + ", line " + std::to_string(line), std::move(hint)};
}

Result<Setting> parseSettings(std::string_view text, const std::string& name)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool json =
        name.ends_with(".json") || (first != std::string_view::npos && text[first] == '{');
    return json ? parseJson(text, name) : parseToml(text, name);
}

Result<Setting> readSettings(const std::filesystem::path& path)
{
    const auto text = base::readSmallFile(path, largestFile);
    if (!text)
        return text.error();
    return parseSettings(*text, path.string());
}

} // namespace moire::settings
