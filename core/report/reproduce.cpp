// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/reproduce.h"

#include "core/report/first_kinds.h"

#include <string_view>

namespace moire::report {

std::string shellQuoted(const std::string& text)
{
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "._-/+=:,@%";
    if (!text.empty() && text.find_first_not_of(plain) == std::string::npos)
        return text;
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out + '\'';
}

namespace {

/// The options that the report was judged by: criteria of the command line have all taps for a
/// pattern and their texts for a name; else it was a profile.
std::string judgingOptions(const diff::Report& report)
{
    std::string options;
    std::string criteria;
    std::string names;
    for (const diff::CriterionOutcome& outcome : report.tolerance) {
        criteria += " --criterion " + shellQuoted(outcome.criterion);
        names += (names.empty() ? "" : ", ") + outcome.criterion;
    }
    if (!report.toleranceProfile.empty())
        options += report.toleranceProfile == names
                       ? criteria
                       : " --tolerance " + shellQuoted(report.toleranceProfile);
    if (!report.noiseFloor.empty())
        options += " --repeat " + shellQuoted(report.noiseFloor);
    return options;
}

} // namespace

std::vector<std::string> reproduceCommands(const diff::Report& report)
{
    std::vector<std::string> commands;
    for (const diff::RunSummary* run : {&report.reference, &report.target})
        if (std::string line = run->environment.text(trace::env::commandLine); !line.empty())
            commands.push_back(std::move(line));
    const std::string both =
        shellQuoted(report.reference.file) + ' ' + shellQuoted(report.target.file);
    commands.push_back("moire-diff " + both + judgingOptions(report));
    if (const auto& first = report.first.bitwise)
        commands.push_back("moire-diff show " + both + ' ' + shellQuoted(siteText(*first)));
    return commands;
}

} // namespace moire::report
