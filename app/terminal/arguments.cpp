// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/terminal/arguments.h"

#include "app/terminal/help_format.h"
#include "app/terminal/terminal.h"

#include <CLI/Config.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace moire::app {

namespace {

/// Between the two halves of a validator's message: what is wrong, and what to do.
constexpr char hintMark = '\n';

struct Complaint
{
    std::string sentence;
    std::string hint; ///< empty: to look at the help
};

std::string inQuotes(std::string_view text)
{
    return '\'' + std::string(text) + '\'';
}

/// "moire-capture run": the program and the subcommand that was being parsed.
std::string nameOf(const CLI::App& arguments)
{
    std::string name = arguments.get_name();
    const CLI::App* at = &arguments;
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
        name += ' ' + at->get_name();
    }
    return name;
}

/// "run, taps or tokenize".
std::string listed(const std::vector<std::string>& words, std::string_view last)
{
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0)
            text += i + 1 == words.size() ? ' ' + std::string(last) + ' ' : std::string(", ");
        text += words[i];
    }
    return text;
}

std::vector<std::string> commandsOf(const CLI::App& arguments)
{
    std::vector<std::string> names;
    for (const CLI::App* command : arguments.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

/// What stands before `mark`; everything when it is not there.
std::string before(const std::string& text, std::string_view mark)
{
    return text.substr(0, text.find(mark));
}

std::string after(const std::string& text, std::string_view mark)
{
    const std::size_t at = text.find(mark);
    return at == std::string::npos ? std::string() : text.substr(at + mark.size());
}

Complaint ofExtras(const CLI::App& arguments)
{
    const std::vector<std::string> extras = arguments.remaining(true);
    const std::string extra = extras.empty() ? std::string() : extras.front();
    if (extra.starts_with('-'))
        return {"there is no option " + before(extra, "="), {}};
    if (const auto commands = commandsOf(arguments);
        !commands.empty() && arguments.get_subcommands().empty())
        return {"there is no command " + inQuotes(extra),
                "The commands are " + listed(commands, "and")};
    return {inQuotes(extra) + " is one argument too many", {}};
}

Complaint ofCount(const std::string& message)
{
    const std::string name = before(message, ":");
    constexpr std::string_view atLeast = "At least ";
    if (message.find(atLeast) != std::string::npos)
        return {name + " needs " + before(after(message, atLeast), " ") + " or more", {}};
    if (message.find("At Most") == std::string::npos)
        return {name + " needs a value", {}};
    if (name.starts_with('-'))
        return {name + " was given more than once", "Give it once"};
    return {"there are too many arguments for " + name, {}};
}

Complaint ofConversion(const std::string& message)
{
    if (message.find(" = ") == std::string::npos)
        return {before(message, ":") + " takes no value", "Leave the value out"};
    return {before(after(message, ": "), " = ") + " cannot be " + inQuotes(after(message, " = ")),
            {}};
}

template <class Kind>
bool isA(const CLI::ParseError& error)
{
    return dynamic_cast<const Kind*>(&error) != nullptr;
}

Complaint complaintOf(const CLI::App& arguments, const CLI::ParseError& error)
{
    const std::string message = error.what();
    const std::string_view mark(&hintMark, 1);
    // The word behind an unknown option looks like an argument too many: the option is what is
    // wrong.
    const std::vector<std::string> extras = arguments.remaining(true);
    if (isA<CLI::ArgumentMismatch>(error) && !extras.empty() && extras.front().starts_with('-'))
        return ofExtras(arguments);
    const bool missing = isA<CLI::RequiredError>(error);
    const bool withoutCommand = missing && message.starts_with("A subcommand");
    if (isA<CLI::ExtrasError>(error) || (withoutCommand && arguments.remaining_size() > 0))
        return ofExtras(arguments);
    if (withoutCommand)
        return {"there is no command", "The commands are " + listed(commandsOf(arguments), "and")};
    if (missing)
        return {before(message, " is required") + " is missing", {}};
    if (isA<CLI::RequiresError>(error))
        return {before(message, " requires ") + " needs " + after(message, " requires "), {}};
    if (isA<CLI::ExcludesError>(error))
        return {before(message, " excludes ") + " does not go with " + after(message, " excludes "),
                "Leave one of the two out"};
    if (isA<CLI::ArgumentMismatch>(error))
        return ofCount(message);
    if (isA<CLI::ConversionError>(error))
        return ofConversion(message);
    if (isA<CLI::ValidationError>(error))
        return {before(message, ":") + ' ' + before(after(message, ": "), mark),
                after(message, mark)};
    return {message, {}};
}

/// The first option that was given an empty value, which only a text (type STR) has a use for; also
/// of the subcommand that was parsed.
std::string emptyValue(const CLI::App& arguments)
{
    for (const CLI::Option* option : arguments.get_options())
        if (option->get_type_name() != "STR" && std::ranges::count(option->results(), "") > 0)
            return option->get_name();
    for (const CLI::App* command : arguments.get_subcommands())
        if (std::string name = emptyValue(*command); !name.empty())
            return name;
    return {};
}

} // namespace

std::optional<int> parseArguments(CLI::App& arguments, int argc, const char* const* argv)
{
    const std::string program = before(arguments.get_name(), " ");
    useHelpFormat(arguments);
    try {
        arguments.parse(argc, argv);
        if (const std::string name = emptyValue(arguments); !name.empty())
            return tell(program, {Errc::Invalid,
                                  name + " needs a value",
                                  {},
                                  "Try '" + nameOf(arguments) + " --help'"});
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        return print(program, helpText(arguments));
    } catch (const CLI::CallForVersion& version) {
        return print(program, std::string(version.what()) + '\n');
    } catch (const CLI::ParseError& error) {
        Complaint complaint = complaintOf(arguments, error);
        if (complaint.hint.empty())
            complaint.hint = "Try '" + nameOf(arguments) + " --help'";
        return tell(program, {Errc::Invalid, complaint.sentence, {}, complaint.hint});
    }
}

CLI::Validator wholeNumber(std::uint64_t least, std::uint64_t most)
{
    const auto check = [least, most](const std::string& text) -> std::string {
        std::uint64_t value = 0;
        const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
        if (end.ec == std::errc() && end.ptr == text.data() + text.size() && value >= least
            && value <= most)
            return {};
        std::string hint = "Give a whole number, " + std::to_string(least);
        hint += most == std::numeric_limits<std::uint64_t>::max() ? " or more"
                                                                  : " to " + std::to_string(most);
        return "cannot be " + inQuotes(text) + hintMark + hint;
    };
    return CLI::Validator(check, {});
}

CLI::Validator byteCount()
{
    const auto convert = [](std::string& text) -> std::string {
        constexpr std::uint64_t thousand = 1000;
        const std::string wrong = "cannot be " + inQuotes(text) + hintMark
                                  + "Give a number of bytes, such as 500000, 500MB or 2GB";
        std::uint64_t value = 0;
        const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
        if (end.ec != std::errc())
            return wrong;
        const std::string_view unit(end.ptr, text.data() + text.size());
        std::uint64_t scale = 1;
        for (const std::string_view known : {"", "kB", "MB", "GB", "TB"}) {
            if (unit == known && value <= std::numeric_limits<std::uint64_t>::max() / scale) {
                text = std::to_string(value * scale);
                return {};
            }
            scale *= thousand;
        }
        return wrong;
    };
    return {convert, {}, "bytes"};
}

CLI::Validator oneOf(std::initializer_list<std::string> words)
{
    const auto check = [allowed = std::vector(words)](const std::string& text) -> std::string {
        for (const std::string& word : allowed)
            if (word == text)
                return {};
        return "cannot be " + inQuotes(text) + hintMark + "Give " + listed(allowed, "or");
    };
    return CLI::Validator(check, {});
}

} // namespace moire::app
