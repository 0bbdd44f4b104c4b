// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/tap_mapping.h"

#include "core/base/text.h"
#include "core/settings/settings_file.h"

#include <algorithm>
#include <charconv>

namespace moire::diff {

using settings::parseSettings;
using settings::readSettings;
using settings::Setting;
using settings::settingError;

namespace {

/// A name with an optional slice behind it: "….out[0:576]".
struct NamedSlice
{
    std::string name;
    std::optional<Slice> slice;
};

std::optional<std::uint32_t> wholeNumber(std::string_view digits)
{
    std::uint32_t number = 0;
    const auto [stop, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || problem != std::errc() || stop != digits.data() + digits.size())
        return std::nullopt;
    return number;
}

/// None when what stands in brackets at the end is no slice.
std::optional<NamedSlice> sliceOf(const std::string& text)
{
    if (!text.ends_with(']'))
        return NamedSlice{text, std::nullopt};
    const std::size_t open = text.rfind('[');
    const std::size_t colon = text.find(':', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || open == 0 || colon == std::string::npos)
        return std::nullopt;
    const std::string_view all = text;
    const auto begin = wholeNumber(all.substr(open + 1, colon - open - 1));
    const auto end = wholeNumber(all.substr(colon + 1, all.size() - colon - 2));
    if (!begin || !end || *begin >= *end)
        return std::nullopt;
    return NamedSlice{text.substr(0, open), Slice{*begin, *end}};
}

bool overlap(const std::optional<Slice>& a, const std::optional<Slice>& b)
{
    return !a || !b || (a->begin < b->end && b->begin < a->end);
}

class MappingReader
{
public:
    explicit MappingReader(const std::string& name)
        : m_name(name)
    {}

    Result<std::vector<MappingEntry>> entries(const Setting& root) const
    {
        for (const auto& [key, value] : *root.table())
            if (key != "map" && key != "note")
                return unknownKey(key, value, "map, note");
        const Setting* maps = root.find("map");
        if (maps == nullptr || maps->list() == nullptr)
            return settingError(m_name, maps == nullptr ? 0 : maps->line,
                                "a mapping needs [[map]] tables",
                                "Each has a reference and a target");
        std::vector<MappingEntry> entries;
        for (const Setting& map : *maps->list()) {
            auto entry = entryOf(map);
            if (!entry)
                return entry.error();
            if (auto alone = checkAlone(entries, *entry); !alone)
                return alone.error();
            entries.push_back(std::move(*entry));
        }
        return entries;
    }

private:
    Error unknownKey(const std::string& key, const Setting& value, const std::string& known) const
    {
        return settingError(m_name, value.line,
                            "the key “" + base::visibleText(key) + "” is unknown",
                            "Known here: " + known);
    }

    Result<NamedSlice> side(const Setting& map, std::string_view key) const
    {
        const Setting* held = map.find(key);
        if (held == nullptr || held->text() == nullptr || held->text()->empty())
            return settingError(m_name, held == nullptr ? map.line : held->line,
                                "a [[map]] needs “" + std::string(key) + "”: a tap's name",
                                "Write " + std::string(key) + " = \"model.layers.*.mlp.out\"");
        const auto named = sliceOf(*held->text());
        if (!named)
            return settingError(m_name, held->line,
                                "“" + std::string(key) + "”: what stands in brackets is no slice",
                                "Write NAME[BEGIN:END] with BEGIN below END, counted from 0");
        return *named;
    }

    Result<MappingEntry> entryOf(const Setting& map) const
    {
        if (map.table() == nullptr)
            return settingError(m_name, map.line, "“map” has to be a list of tables",
                                "Write [[map]] in TOML, \"map\": [{…}] in JSON");
        for (const auto& [key, value] : *map.table())
            if (key != "reference" && key != "target")
                return unknownKey(key, value, "reference, target");
        const auto reference = side(map, "reference");
        if (!reference)
            return reference.error();
        const auto target = side(map, "target");
        if (!target)
            return target.error();
        const auto stars = [](const std::string& name) {
            return std::count(name.begin(), name.end(), '*');
        };
        if (stars(target->name) > stars(reference->name))
            return settingError(m_name, map.line, "“target” has more '*' than “reference”",
                                "What a '*' met in the reference's name stands in the target's");
        if (stars(reference->name) > stars(target->name))
            return settingError(m_name, map.line,
                                "many taps like “" + base::visibleText(reference->name)
                                    + "” would stand for one, “" + base::visibleText(target->name)
                                    + "”",
                                "Give “target” as many '*' as “reference”");
        return MappingEntry{reference->name, target->name, reference->slice, target->slice,
                            map.line};
    }

    /// Two entries may share a name only where their slices do not.
    Result<void> checkAlone(const std::vector<MappingEntry>& before,
                            const MappingEntry& entry) const
    {
        for (const MappingEntry& earlier : before) {
            const std::string line = " in line " + std::to_string(earlier.line) + " already";
            if (earlier.target == entry.target && overlap(earlier.targetSlice, entry.targetSlice))
                return settingError(m_name, entry.line,
                                    "maps two taps to one: “" + base::visibleText(entry.target)
                                        + "” stands for “" + base::visibleText(earlier.reference)
                                        + "”" + line);
            if (earlier.reference == entry.reference
                && overlap(earlier.referenceSlice, entry.referenceSlice))
                return settingError(m_name, entry.line,
                                    "maps one tap to two: “" + base::visibleText(entry.reference)
                                        + "” stands for “" + base::visibleText(earlier.target) + "”"
                                        + line);
        }
        return {};
    }

    const std::string& m_name;
};

std::string quotedToml(const std::string& name, const std::optional<Slice>& slice)
{
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\')
            text += '\\';
        text += c;
    }
    if (slice)
        text += '[' + std::to_string(slice->begin) + ':' + std::to_string(slice->end) + ']';
    return text + '"';
}

} // namespace

Result<TapMapping> TapMapping::parse(std::string_view text, const std::string& name)
{
    const auto root = parseSettings(text, name);
    if (!root)
        return root.error();
    auto entries = MappingReader(name).entries(*root);
    if (!entries)
        return entries.error();
    TapMapping mapping;
    mapping.m_file = name;
    mapping.m_entries = std::move(*entries);
    return mapping;
}

Result<TapMapping> TapMapping::read(const std::filesystem::path& path)
{
    const auto root = readSettings(path);
    if (!root)
        return root.error();
    auto entries = MappingReader(path.string()).entries(*root);
    if (!entries)
        return entries.error();
    TapMapping mapping;
    mapping.m_file = path.string();
    mapping.m_entries = std::move(*entries);
    return mapping;
}

std::string TapMapping::text() const
{
    std::string text;
    for (const MappingEntry& entry : m_entries)
        text += std::string(text.empty() ? "" : "\n")
                + "[[map]]\nreference = " + quotedToml(entry.reference, entry.referenceSlice)
                + "\ntarget = " + quotedToml(entry.target, entry.targetSlice) + '\n';
    return text;
}

} // namespace moire::diff
