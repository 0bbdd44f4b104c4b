// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/request_arguments.h"

#include "app/capture/commands.h"
#include "app/capture/option_words.h"
#include "app/capture/private_folder.h"
#include "app/capture/run_material.h"
#include "capture/server/message_run.h"
#include "core/base/text.h"

#include <CLI/Config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace moire::app {

namespace env = trace::env;

namespace {

constexpr std::array<std::string_view, 3> ofTheMachine{"output", "dry-run", "matrix"};
constexpr std::array<std::string_view, 5> inputs{"text", "prompts", "ids", "task", "replay-from"};

Error invalid(const std::string& option, const std::string& sentence, std::string hint)
{
    return {Errc::Invalid,
            "the option \"" + base::visibleText(option) + "\" " + sentence,
            {},
            std::move(hint)};
}

std::string numberText(double value)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end.ptr};
}

/// What an option's value says to the command line; nothing for a flag that is off.
std::optional<std::vector<std::string>> wordsOfValue(const wire::OptionValue& value)
{
    if (const auto* text = std::get_if<std::string>(&value))
        return std::vector{*text};
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return std::vector{std::to_string(*integer)};
    if (const auto* real = std::get_if<double>(&value))
        return std::vector{numberText(*real)};
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
        return *texts;
    return std::nullopt;
}

bool namesFile(const std::string& option, const std::string& value)
{
    if (option == "taps")
        return value.starts_with('@');
    return option == "prompts" || option == "ids" || option == "policy-file" || option == "task"
           || option == "replay-from";
}

/// The questions' kind, which the file's name begins with as a task does, or says by its ending.
std::string kindOfTask(const std::string& name)
{
    for (const char* kind : {"mmlu:", "arc:"})
        if (name.starts_with(kind))
            return kind;
    return name.ends_with(".jsonl") ? "arc:" : "mmlu:";
}

std::string withoutKind(const std::string& name)
{
    const std::string kind = kindOfTask(name);
    return name.starts_with(kind) ? name.substr(kind.size()) : name;
}

/// One request on its way to arguments.
class RequestReader
{
public:
    RequestReader(const wire::RunRequest& request, const capture::ShelvedModel& model)
        : m_request(request)
        , m_model(model)
        , m_app("", "run")
    {
        addRunOptions(m_app, m_known);
    }

    Result<void> read()
    {
        if (auto kept = keepFiles(); !kept)
            return kept;
        m_words = {programName, "run", m_model.path.string()};
        m_shown = {{"model", m_request.model}};
        for (const auto& [option, value] : m_request.options)
            if (auto taken = take(option, value); !taken)
                return taken;
        auto parsed = argumentsOf(m_words);
        if (!parsed)
            return parsed.error();
        arguments = *std::move(parsed);
        if (m_text)
            arguments.text = m_text;
        arguments.commandLine = lineOf(wordsOf(m_shown));
        return checkLive();
    }

    /// An input, where the request needs none.
    void addInput()
    {
        for (const std::string_view input : inputs)
            if (m_request.options.contains(std::string(input)))
                return;
        arguments.text = "x";
    }

    /// Without the places of this machine.
    Error told(Error error) const
    {
        for (std::string* text : {&error.sentence, &error.place, &error.hint}) {
            if (m_folder)
                replaceAll(*text, m_folder->path().string() + '/', {});
            replaceAll(*text, m_model.path.string(), m_model.name);
        }
        return error;
    }

    RunArguments arguments;
    ReplayInput replay;

private:
    static void replaceAll(std::string& text, const std::string& from, const std::string& to)
    {
        for (std::size_t at = text.find(from); at != std::string::npos;
             at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
    }

    /// All of them lie side by side, so that one may go with another as on the client's machine.
    Result<void> keepFiles()
    {
        const auto reference = m_request.options.find("replay-from");
        const auto* messages = reference == m_request.options.end()
                                   ? nullptr
                                   : std::get_if<wire::FilePlace>(&reference->second);
        for (std::size_t i = 0; i < m_request.files.size(); ++i) {
            m_paths.emplace_back();
            if (messages != nullptr && messages->place == i)
                continue; // messages stay in memory
            if (!m_folder) {
                auto made = PrivateFolder::make();
                if (!made)
                    return made.error();
                m_folder.emplace(*std::move(made));
            }
            const wire::NamedFile& file = m_request.files[i];
            if (withoutKind(file.name) == ".") { // all the others, as a folder
                m_paths.back() = m_folder->path().string();
                continue;
            }
            auto path = m_folder->write(withoutKind(file.name), file.content.bytes);
            if (!path)
                return path.error();
            m_paths.back() = path->string();
        }
        return {};
    }

    Result<void> take(const std::string& option, const wire::OptionValue& value)
    {
        if (option == "replay-live") {
            const auto* live = std::get_if<bool>(&value);
            if (live == nullptr)
                return invalid(option, "is true or false", {});
            replay.live = *live;
            m_shown.emplace_back(option, "");
            return {};
        }
        if (std::ranges::find(ofTheMachine, option) != ofTheMachine.end())
            return invalid(option, "is of the machine that the daemon runs on, not for clients",
                           "Leave it out");
        const CLI::Option* known = m_app.get_option_no_throw("--" + option);
        if (known == nullptr || option == "help")
            return invalid(option, "is unknown", "The options are those of 'moire-capture run'");
        const bool isFlag = known->get_items_expected_max() == 0;
        const auto* on = std::get_if<bool>(&value);
        if (isFlag != (on != nullptr))
            return invalid(option, isFlag ? "is true or false" : "needs a text or a number", {});
        if (on != nullptr) {
            if (*on) {
                m_words.push_back("--" + option);
                m_shown.emplace_back(option, "");
            }
            return {};
        }
        if (const auto* place = std::get_if<wire::FilePlace>(&value))
            return takeFile(option, *place);
        return takeWords(option, *wordsOfValue(value));
    }

    Result<void> takeFile(const std::string& option, wire::FilePlace place)
    {
        const bool ofTaps = option == "taps";
        if (!ofTaps && !namesFile(option, {}))
            return invalid(option, "is no file", "Send its value");
        if (place.place >= m_request.files.size())
            return invalid(option, "names a file that did not come", {});
        const wire::NamedFile& file = m_request.files[place.place];
        const std::string prefix = option == "task" ? kindOfTask(file.name) : ofTaps ? "@" : "";
        const std::string shown = plainFileName(withoutKind(file.name));
        m_shown.emplace_back(option, prefix + shown);
        if (option != "replay-from") {
            m_words.push_back("--" + option + '=' + prefix + m_paths[place.place]);
            return {};
        }
        auto run = capture::runFromMessages(file.content, shown);
        if (!run)
            return run.error();
        replay.reference = *std::move(run);
        m_words.push_back("--" + option + '=' + shown);
        return {};
    }

    Result<void> takeWords(const std::string& option, const std::vector<std::string>& values)
    {
        for (const std::string& value : values) {
            if (namesFile(option, value))
                return invalid(option, "names a file of the machine that the daemon runs on",
                               "Send the file with the request");
            if (value.empty() && option != "text")
                return invalid(option, "is empty", "Leave it out, or give it a value");
            m_shown.emplace_back(option, value);
            if (option == "text")
                m_text = value; // as it is, whatever a command line would make of it
            // Joined, so that no value is taken for an option.
            m_words.push_back("--" + option + '=' + (option == "text" ? "x" : value));
        }
        return {};
    }

    /// Most tokens of a response go by the name of the option that generates them.
    Result<void> checkLive()
    {
        if (!replay.live)
            return {};
        if (!replay.reference)
            return invalid("replay-live", "needs the prompts", "Send them as replay-from");
        if (arguments.options.observerCheck)
            return invalid("observer-check", "needs the tokens before it begins",
                           "Leave it out, or replay a run that has ended");
        m_most = std::exchange(arguments.options.maxNew, 0);
        return {};
    }

public:
    /// What was announced for a live replay, 0 = nothing.
    std::uint32_t most() const { return m_most; }

private:
    const wire::RunRequest& m_request;
    const capture::ShelvedModel& m_model;
    RunArguments m_known; ///< of m_app, for the options' names only
    CLI::App m_app;
    std::optional<PrivateFolder> m_folder;
    std::vector<std::string> m_paths; ///< of the files
    std::vector<std::string> m_words;
    std::vector<OptionValue> m_shown; ///< the same with the names that the client gave
    std::optional<std::string> m_text;
    std::uint32_t m_most = 0;
};

} // namespace

Result<capture::RequestedRun> RequestInterpreter::run(const wire::RunRequest& request,
                                                      const capture::ShelvedModel& model)
{
    RequestReader reader(request, model);
    if (auto read = reader.read(); !read)
        return reader.told(read.error());
    if (auto done = interpret(reader.arguments); !done)
        return reader.told(done.error());
    reader.arguments.options.digestWeights = false;
    reader.arguments.options.maxNew += reader.most();
    auto material = materialOf(reader.arguments, model.checkpoint, reader.replay);
    if (!material)
        return reader.told(material.error());
    capture::RequestedRun run;
    for (const std::string_view key : {env::program, env::commandLine, env::replaySource})
        if (const auto* value = material->plan.header.environment.find(key))
            run.description.set(key, *value);
    run.options = std::move(material->options);
    run.plan = std::move(material->plan);
    run.prompts =
        std::make_shared<const std::vector<capture::Prompt>>(std::move(material->prompts));
    return run;
}

Result<capture::RunOptions> RequestInterpreter::options(const wire::RunRequest& request,
                                                        const capture::ShelvedModel& model)
{
    RequestReader reader(request, model);
    if (auto read = reader.read(); !read)
        return reader.told(read.error());
    reader.addInput();
    if (auto done = interpret(reader.arguments); !done)
        return reader.told(done.error());
    return reader.arguments.options;
}

} // namespace moire::app
