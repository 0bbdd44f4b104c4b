// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/terminal/help_format.h"

#include <CLI/Formatter.hpp>

#include <memory>
#include <sstream>
#include <string>
#include <string_view>

namespace moire::app {

namespace {

constexpr std::size_t firstColumn = 24;
constexpr std::size_t lineLength = 80;

/// Words of `text` in lines that begin at `column`; the first line has been begun up to there.
std::string filled(std::string_view text, std::size_t column)
{
    std::string out;
    std::size_t at = column;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        if (at > column && at + 1 + word.size() > lineLength) {
            out += '\n' + std::string(column, ' ');
            at = column;
        }
        if (at > column) {
            out += ' ';
            ++at;
        }
        out += word;
        at += word.size();
    }
    return out;
}

class HelpFormat : public CLI::Formatter
{
public:
    HelpFormat()
    {
        label("Positionals", "Arguments");
        label("OPTIONS", "OPTION…");
        label("SUBCOMMAND", "COMMAND");
        label("Subcommands", "Commands");
        column_width(firstColumn);
    }

    std::string make_description(const CLI::App* program) const override
    {
        return filled(program->get_description(), 0) + '\n';
    }

    std::string make_option(const CLI::Option* option, bool isPositional) const override
    {
        return entry(make_option_name(option, isPositional)
                         + (isPositional ? std::string() : make_option_opts(option)),
                     make_option_desc(option));
    }

    /// The value's name only: what it may be is said in words.
    std::string make_option_opts(const CLI::Option* option) const override
    {
        if (option->get_type_size() == 0)
            return {};
        const std::string type = option->get_type_name();
        return ' ' + type.substr(0, type.find(':'));
    }

    std::string make_option_desc(const CLI::Option* option) const override
    {
        const std::string otherwise = option->get_default_str();
        return option->get_description()
               + (otherwise.empty() ? std::string() : " (default: " + otherwise + ')');
    }

    /// Without "(2x)": the argument's name says how many.
    std::string make_option_usage(const CLI::Option* option) const override
    {
        const std::string name = make_option_name(option, true);
        return option->get_required() ? name : '[' + name + ']';
    }

    std::string make_subcommand(const CLI::App* command) const override
    {
        return entry(command->get_name(), command->get_description());
    }

private:
    static std::string entry(const std::string& name, const std::string& description)
    {
        std::string line = "  " + name;
        if (line.size() + 2 > firstColumn)
            line += '\n' + std::string(firstColumn, ' ');
        else
            line.resize(firstColumn, ' ');
        return line + filled(description, firstColumn) + '\n';
    }
};

} // namespace

void useHelpFormat(CLI::App& arguments)
{
    arguments.formatter(std::make_shared<HelpFormat>());
    for (CLI::App* command : arguments.get_subcommands([](const CLI::App*) { return true; }))
        useHelpFormat(*command);
}

std::string helpText(const CLI::App& arguments)
{
    std::string text = arguments.help();
    constexpr std::string_view gap = "\n\n\n"; // CLI11 leaves two lines empty between groups
    for (std::size_t at = text.find(gap); at != std::string::npos; at = text.find(gap))
        text.erase(at, 1);
    return text;
}

} // namespace moire::app
