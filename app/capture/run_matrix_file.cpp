// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/run_arguments.h"
#include "app/capture/run_matrix.h"
#include "core/settings/settings_file.h"

#include <CLI/Config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

namespace moire::app {

namespace {

using settings::settingError;
using Node = settings::Setting;

/// More than anybody waits for; a slip of a range would ask for more.
constexpr std::size_t mostCells = 4096;

struct Axis
{
    std::string option;
    std::vector<std::vector<OptionValue>> choices; ///< of each value; none for a flag that is off
    std::vector<std::string> words;                ///< of each value, for names and for matching
};

std::string inQuotes(std::string_view text)
{
    return '\'' + std::string(text) + '\'';
}

/// "16", "0.8", "true", or the text itself; nothing for a list or a table.
std::optional<std::string> wordOf(const Node& node)
{
    if (const auto* text = node.text())
        return *text;
    if (const auto flag = node.flag())
        return *flag ? "true" : "false";
    const auto* number = std::get_if<double>(&node.value);
    if (number == nullptr)
        return std::nullopt;
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), *number);
    return std::string(text.data(), end.ptr);
}

std::string cellWord(const std::string& option, const std::string& word)
{
    if (word == "true")
        return option;
    if (word == "false")
        return "no-" + option;
    const bool number = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= '0' && c <= '9') || c == '.';
    });
    std::string name = number ? option + word : word;
    while (name.ends_with('/'))
        name.pop_back();
    if (option == "model" || name.find('/') != std::string::npos)
        name = std::filesystem::path(name).stem().string();
    for (char& c : name)
        if (c == '/' || c == ' ' || c == ':' || c == '=' || c == ',' || c == '\0')
            c = '_';
    return name;
}

class MatrixReader
{
public:
    explicit MatrixReader(std::string name)
        : m_name(std::move(name))
        , m_app("", "run")
    {
        addRunOptions(m_app, m_arguments);
    }

    Result<RunMatrix> read(const Node& root)
    {
        for (const auto& [key, node] : *root.table())
            if (auto done = readTable(key, node); !done)
                return done.error();
        if (m_axes.empty())
            return settingError(m_name, 1, "has no [axes]",
                                "Write them as in: [axes], policy = [\"bf16\", \"fp32\"]");
        if (auto made = makeCells(); !made)
            return made.error();
        return std::move(m_matrix);
    }

private:
    Result<void> readTable(const std::string& key, const Node& node)
    {
        if (key == "run")
            return readRun(node);
        if (key == "axes")
            return readAxes(node);
        if (key == "skip")
            return readSkip(node);
        if (key == "reference") {
            m_reference = &node;
            return {};
        }
        return settingError(m_name, node.line, "the key " + inQuotes(key) + " is unknown",
                            "The tables are [run], [axes], [[skip]] and [reference]");
    }

    /// The option of that name; whether it is a flag.
    Result<bool> isFlag(const std::string& option, std::uint32_t line) const
    {
        if (option == "model")
            return false;
        const CLI::Option* found = m_app.get_option_no_throw("--" + option);
        const bool own = option == "matrix" || option == "output" || option == "dry-run";
        if (found == nullptr || own)
            return settingError(m_name, line,
                                inQuotes(option)
                                    + " is no option of 'moire-capture run' that a "
                                      "matrix can set",
                                "The options are those of --help, without their two dashes");
        return found->get_items_expected_max() == 0;
    }

    /// What a value says to the command line.
    Result<std::vector<OptionValue>> choice(const std::string& option, const Node& node) const
    {
        const auto flag = isFlag(option, node.line);
        if (!flag)
            return flag.error();
        const auto word = wordOf(node);
        if (!word)
            return settingError(m_name, node.line,
                                inQuotes(option) + " needs a text, a number, true or false");
        if (*flag != node.flag().has_value())
            return settingError(m_name, node.line,
                                inQuotes(option)
                                    + (*flag ? " is true or false" : " needs a text or a number"));
        if (!*flag)
            return std::vector<OptionValue>{{option, *word}};
        return *node.flag() ? std::vector<OptionValue>{{option, ""}} : std::vector<OptionValue>{};
    }

    Result<void> readRun(const Node& node)
    {
        if (node.table() == nullptr)
            return settingError(m_name, node.line, "“run” has to be a table");
        for (const auto& [option, value] : *node.table()) {
            const Node::List one{value};
            for (const Node& entry : value.list() == nullptr ? one : *value.list()) {
                const auto said = choice(option, entry);
                if (!said)
                    return said.error();
                m_run.insert(m_run.end(), said->begin(), said->end());
            }
            m_runOptions.insert(option);
        }
        return {};
    }

    Result<void> readAxes(const Node& node)
    {
        if (node.table() == nullptr)
            return settingError(m_name, node.line, "“axes” has to be a table");
        for (const auto& [option, values] : *node.table()) {
            if (values.list() == nullptr)
                return settingError(m_name, values.line,
                                    "the axis " + inQuotes(option) + " has to be a list of values",
                                    "A value for every run goes into [run]");
            if (values.list()->empty())
                return settingError(m_name, values.line,
                                    "the axis " + inQuotes(option) + " has no value",
                                    "Write one or more, or leave the axis out");
            Axis axis;
            axis.option = option;
            for (const Node& value : *values.list()) {
                auto said = choice(option, value);
                if (!said)
                    return said.error();
                axis.choices.push_back(*std::move(said));
                axis.words.push_back(*wordOf(value));
            }
            m_axes.push_back(std::move(axis));
        }
        return {};
    }

    Result<void> readSkip(const Node& node)
    {
        if (node.list() == nullptr)
            return settingError(m_name, node.line, "“skip” has to be a list of tables",
                                "Write each as [[skip]]");
        for (const Node& table : *node.list())
            m_skips.push_back(&table);
        return {};
    }

    /// The values of some axes, each one or a list, that a table names.
    using Condition = std::vector<std::pair<std::size_t, std::set<std::string>>>;
    Result<Condition> conditionOf(const Node& node) const
    {
        if (node.table() == nullptr || node.table()->empty())
            return settingError(m_name, node.line, "names no axis",
                                "Write values of [axes], such as policy = \"bf16\"");
        Condition condition;
        for (const auto& [option, value] : *node.table()) {
            const auto axis = std::find_if(m_axes.begin(), m_axes.end(),
                                           [&](const Axis& a) { return a.option == option; });
            if (axis == m_axes.end())
                return settingError(m_name, value.line, inQuotes(option) + " is none of the [axes]",
                                    "Name an axis, or write one");
            std::set<std::string> words;
            const Node::List one{value};
            for (const Node& entry : value.list() == nullptr ? one : *value.list()) {
                const auto word = wordOf(entry);
                if (!word || std::ranges::find(axis->words, *word) == axis->words.end())
                    return settingError(m_name, entry.line,
                                        "the axis " + inQuotes(option) + " has no such value",
                                        "Take one that stands in [axes]");
                words.insert(*word);
            }
            condition.emplace_back(static_cast<std::size_t>(axis - m_axes.begin()),
                                   std::move(words));
        }
        return condition;
    }

    bool meets(const std::vector<std::size_t>& place, const Condition& condition) const
    {
        return std::all_of(condition.begin(), condition.end(), [&](const auto& part) {
            return part.second.contains(m_axes[part.first].words[place[part.first]]);
        });
    }

    MatrixCell cellAt(const std::vector<std::size_t>& place) const
    {
        MatrixCell cell;
        cell.settings = m_run;
        for (std::size_t i = 0; i < place.size(); ++i) {
            const Axis& axis = m_axes[i];
            const auto& chosen = axis.choices[place[i]];
            cell.settings.insert(cell.settings.end(), chosen.begin(), chosen.end());
            cell.name += (i > 0 ? "-" : "") + cellWord(axis.option, axis.words[place[i]]);
        }
        return cell;
    }

    /// Goes to the next place; false behind the last.
    bool advance(std::vector<std::size_t>& place) const
    {
        for (std::size_t i = place.size(); i-- > 0;) {
            if (++place[i] < m_axes[i].words.size())
                return true;
            place[i] = 0;
        }
        return false;
    }

    Result<void> checkSize() const
    {
        std::size_t cells = 1;
        for (const Axis& axis : m_axes) {
            if (m_runOptions.contains(axis.option))
                return settingError(m_name, 1,
                                    inQuotes(axis.option) + " stands in [run] and [axes]",
                                    "Leave it out of one of them");
            cells *= axis.words.size();
            if (cells > mostCells)
                return settingError(m_name, 1,
                                    "asks for more than " + std::to_string(mostCells) + " runs",
                                    "Take fewer values");
        }
        return {};
    }

    Result<void> makeCells()
    {
        if (auto checked = checkSize(); !checked)
            return checked;
        std::vector<Condition> skips;
        for (const Node* table : m_skips) {
            auto condition = conditionOf(*table);
            if (!condition)
                return condition.error();
            skips.push_back(*std::move(condition));
        }
        Condition reference;
        if (m_reference != nullptr) {
            auto condition = conditionOf(*m_reference);
            if (!condition)
                return condition.error();
            reference = *std::move(condition);
        }
        std::vector<std::size_t> place(m_axes.size(), 0);
        std::size_t references = 0;
        do {
            if (std::any_of(skips.begin(), skips.end(),
                            [&](const Condition& skip) { return meets(place, skip); }))
                continue;
            const bool first = m_reference != nullptr && meets(place, reference);
            references += first ? 1 : 0;
            m_matrix.cells.insert(first ? m_matrix.cells.begin() : m_matrix.cells.end(),
                                  cellAt(place));
        } while (advance(place));
        if (m_reference != nullptr && references != 1)
            return settingError(m_name, m_reference->line,
                                "[reference] fits " + std::to_string(references)
                                    + " runs, and has to fit one",
                                "Name a value of every axis");
        m_matrix.withReference = m_reference != nullptr;
        return checkNames();
    }

    Result<void> checkNames() const
    {
        if (m_matrix.cells.empty())
            return settingError(m_name, 1, "skips every run", "Take a [[skip]] out");
        std::set<std::string> names;
        for (const MatrixCell& cell : m_matrix.cells)
            if (!names.insert(cell.name).second)
                return settingError(m_name, 1, "has two runs of the name " + inQuotes(cell.name),
                                    "Take a value out that stands twice in an axis");
        return {};
    }

    std::string m_name;
    RunArguments m_arguments; ///< of the options, for their names only
    CLI::App m_app;
    std::vector<OptionValue> m_run;
    std::set<std::string> m_runOptions;
    std::vector<Axis> m_axes;
    std::vector<const Node*> m_skips;
    const Node* m_reference = nullptr;
    RunMatrix m_matrix;
};

} // namespace

Result<RunMatrix> readRunMatrix(const std::filesystem::path& path)
{
    const auto root = settings::readSettings(path);
    if (!root)
        return root.error();
    return MatrixReader(path.string()).read(*root);
}

} // namespace moire::app
