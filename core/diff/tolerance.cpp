// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/tolerance.h"

#include "core/base/text.h"
#include "core/settings/settings_file.h"

#include <algorithm>
#include <initializer_list>

namespace moire::diff {

using settings::parseSettings;
using settings::readSettings;
using settings::Setting;
using settings::settingError;

namespace {

constexpr std::string_view catchAll = "*";

std::string inQuotes(std::string_view text)
{
    return "“" + base::visibleText(text) + "”";
}

/// One profile on its way from settings to entries.
class ProfileReader
{
public:
    explicit ProfileReader(std::string name)
        : m_name(std::move(name))
    {}

    Result<std::vector<ToleranceEntry>> entries(const Setting& root) const
    {
        if (auto known = checkKeys(root, {"name", "source", "note", "tap"}); !known)
            return known.error();
        const Setting* taps = root.find("tap");
        if (taps == nullptr || taps->list() == nullptr || taps->list()->empty())
            return settingError(m_name, taps == nullptr ? 0 : taps->line,
                                "a tolerance profile needs [[tap]] tables",
                                "Each has a pattern of tap names and a criterion");
        std::vector<ToleranceEntry> entries;
        for (const Setting& tap : *taps->list()) {
            auto read = entry(tap);
            if (!read)
                return read.error();
            if (auto reached = checkReached(entries, *read); !reached)
                return reached.error();
            entries.push_back(std::move(*read));
        }
        if (entries.back().pattern != catchAll)
            return settingError(m_name, entries.back().line,
                                "the last pattern has to be \"*\": a profile speaks of every tap",
                                "End it with a [[tap]] whose pattern is \"*\"");
        return entries;
    }

    /// The text behind a key; "" where the key is absent.
    Result<std::string> text(const Setting& table, std::string_view key) const
    {
        const Setting* held = table.find(key);
        if (held == nullptr)
            return std::string();
        if (held->text() == nullptr)
            return settingError(m_name, held->line, inQuotes(key) + " has to be a text in quotes",
                                "Write " + std::string(key) + " = \"…\"");
        return *held->text();
    }

private:
    Result<void> checkKeys(const Setting& table,
                           std::initializer_list<std::string_view> known) const
    {
        for (const auto& [key, value] : *table.table()) {
            if (std::find(known.begin(), known.end(), key) != known.end())
                continue;
            std::string list;
            for (const std::string_view name : known)
                list += (list.empty() ? "" : ", ") + std::string(name);
            return settingError(m_name, value.line, "the key " + inQuotes(key) + " is unknown",
                                "Known here: " + list);
        }
        return {};
    }

    Result<void> checkReached(const std::vector<ToleranceEntry>& before,
                              const ToleranceEntry& entry) const
    {
        // '*' covers any pattern in its place, '?' only what is one character too.
        for (const ToleranceEntry& earlier : before)
            if ((earlier.pattern == entry.pattern || earlier.pattern.find('?') == std::string::npos)
                && base::globMatches(earlier.pattern, entry.pattern))
                return settingError(m_name, entry.line,
                                    "the pattern " + inQuotes(entry.pattern) + " is never reached: "
                                        + inQuotes(earlier.pattern) + " in line "
                                        + std::to_string(earlier.line) + " takes all of its taps",
                                    "The first match decides: put the narrower pattern first");
        return {};
    }

    Result<ToleranceEntry> entry(const Setting& tap) const
    {
        if (tap.table() == nullptr)
            return settingError(m_name, tap.line, "“tap” has to be a list of tables",
                                "Write [[tap]] in TOML, \"tap\": [{…}] in JSON");
        if (auto known = checkKeys(tap, {"pattern", "criterion", "source", "optional"}); !known)
            return known.error();
        ToleranceEntry entry;
        entry.line = tap.line;
        auto pattern = text(tap, "pattern");
        if (!pattern)
            return pattern.error();
        if (pattern->empty())
            return settingError(m_name, tap.line, "a [[tap]] has no “pattern”",
                                "Add one: pattern = \"*\" is like every tap");
        entry.pattern = std::move(*pattern);
        auto source = text(tap, "source");
        if (!source)
            return source.error();
        entry.source = std::move(*source);
        if (const Setting* optional = tap.find("optional")) {
            if (!optional->flag())
                return settingError(m_name, optional->line, "“optional” has to be true or false",
                                    "Write optional = true, without quotes");
            entry.optional = *optional->flag();
        }
        auto criteria = criteriaOf(tap);
        if (!criteria)
            return criteria.error();
        entry.criteria = std::move(*criteria);
        return entry;
    }

    Result<std::vector<Criterion>> criteriaOf(const Setting& tap) const
    {
        const Setting* held = tap.find("criterion");
        if (held == nullptr)
            return settingError(m_name, tap.line, "a [[tap]] has no “criterion”",
                                "Add one: criterion = \"bitwise\"");
        std::vector<Criterion> criteria;
        const Setting::List one{*held};
        const Setting::List& list = held->list() == nullptr ? one : *held->list();
        for (const Setting& setting : list) {
            if (setting.text() == nullptr)
                return settingError(m_name, setting.line,
                                    "“criterion” has to be a text in quotes, or a list of them",
                                    "Write criterion = [\"rel<=1e-3\", \"abs<=1\"]");
            auto criterion = parseCriterion(*setting.text());
            if (!criterion)
                return settingError(m_name, setting.line,
                                    "“criterion”: " + criterion.error().sentence,
                                    criterion.error().hint);
            criteria.push_back(std::move(*criterion));
        }
        if (criteria.empty())
            return settingError(m_name, held->line, "“criterion” is an empty list",
                                "Name at least one: criterion = [\"bitwise\"]");
        return criteria;
    }

    std::string m_name;
};

} // namespace

Result<Tolerance> Tolerance::of(const Setting& root, const std::string& name)
{
    const ProfileReader reader(name);
    auto entries = reader.entries(root);
    if (!entries)
        return entries.error();
    auto title = reader.text(root, "name");
    if (!title)
        return title.error();
    Tolerance tolerance;
    tolerance.m_file = name;
    tolerance.m_name = title->empty() ? std::filesystem::path(name).stem().string() : *title;
    tolerance.m_entries = std::move(*entries);
    return tolerance;
}

Result<Tolerance> Tolerance::parse(std::string_view text, const std::string& name)
{
    const auto root = parseSettings(text, name);
    return root ? of(*root, name) : root.error();
}

Result<Tolerance> Tolerance::read(const std::filesystem::path& path)
{
    const auto root = readSettings(path);
    return root ? of(*root, path.string()) : root.error();
}

Tolerance Tolerance::everywhere(std::vector<Criterion> criteria)
{
    Tolerance tolerance;
    for (const Criterion& criterion : criteria)
        tolerance.m_name += (tolerance.m_name.empty() ? "" : ", ") + criterion.text;
    tolerance.m_entries.push_back({std::string(catchAll), std::move(criteria), {}, false, 0});
    return tolerance;
}

std::size_t Tolerance::entryOf(std::string_view tap) const
{
    const auto at =
        std::find_if(m_entries.begin(), m_entries.end(), [tap](const ToleranceEntry& entry) {
            return base::globMatches(entry.pattern, tap);
        });
    return static_cast<std::size_t>(at - m_entries.begin()); // the catch-all is among them
}

bool Tolerance::uses(Criterion::Kind kind) const
{
    return std::any_of(m_entries.begin(), m_entries.end(), [kind](const ToleranceEntry& entry) {
        return std::any_of(entry.criteria.begin(), entry.criteria.end(),
                           [kind](const Criterion& criterion) { return criterion.kind == kind; });
    });
}

} // namespace moire::diff
