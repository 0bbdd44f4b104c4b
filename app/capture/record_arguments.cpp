// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/record_arguments.h"

#include "app/terminal/arguments.h"
#include "capture/task/tap_patterns.h"
#include "core/base/file.h"
#include "core/live/replay_request.h"
#include "core/store/mapped_run.h"
#include "core/wire/protocol.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

namespace moire::app {

namespace fs = std::filesystem;

namespace {

/// Options of the recorder itself.
constexpr std::array<std::string_view, 11> ownOptions{"from",    "key",   "server-key", "insecure",
                                                      "wait",    "model", "attach",     "output",
                                                      "dry-run", "help",  "matrix"};

constexpr std::uint32_t lostLinkSeconds = 300;

Error invalid(std::string sentence, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), {}, std::move(hint)};
}

/// Puts the options of `run` that name files, and all others, into a request.
class RequestWriter
{
public:
    explicit RequestWriter(wire::RunRequest& request)
        : m_request(request)
    {}

    Result<void> add(const std::string& name, const CLI::Option& option)
    {
        const std::vector<std::string> values = option.results();
        if (option.get_items_expected_max() == 0) {
            m_request.options[name] = true;
            return {};
        }
        if (values.empty())
            return {};
        if (name == "prompts" || name == "ids" || name == "policy-file")
            return addFile(name, values.back(), fs::path(values.back()).filename().string());
        if (name == "task")
            return addTask(values.back());
        if (name == "replay-from")
            return addReference(values.back());
        if (name != "taps") {
            m_request.options[name] = values.back();
            return {};
        }
        auto patterns = capture::expandTapPatterns(values);
        if (!patterns)
            return patterns.error();
        m_request.options[name] = *std::move(patterns);
        return {};
    }

private:
    Result<void> keepFile(const fs::path& path, const std::string& name)
    {
        const auto text = base::readSmallFile(path, wire::maxRequestFrameBytes);
        if (!text)
            return text.error();
        const auto bytes = std::as_bytes(std::span(*text));
        m_request.files.push_back({name, wire::Frame::of({bytes.begin(), bytes.end()})});
        return {};
    }

    Result<void> addFile(const std::string& option, const fs::path& path, const std::string& name)
    {
        const auto place = static_cast<std::uint32_t>(m_request.files.size());
        if (auto kept = keepFile(path, name); !kept)
            return kept;
        m_request.options[option] = wire::FilePlace{place};
        return {};
    }

    /// The solved questions of an MMLU category travel with it, since --shots needs them.
    Result<void> keepSolved(const fs::path& questions)
    {
        std::string category = questions.stem().string();
        for (const std::string_view end : {"_test", "_val"})
            if (category.ends_with(end))
                category.resize(category.size() - end.size());
        const std::string name = category + "_dev.csv";
        for (const fs::path& path : {questions.parent_path() / name,
                                     questions.parent_path().parent_path() / "dev" / name}) {
            std::error_code ignored;
            if (fs::exists(path, ignored) && path != questions)
                return keepFile(path, name);
        }
        return {};
    }

    Result<void> addTask(const std::string& source)
    {
        constexpr std::string_view mmlu = "mmlu:";
        const std::size_t colon = source.find(':');
        const std::string kind = source.substr(0, colon + 1);
        const fs::path path = colon == std::string::npos ? source : source.substr(colon + 1);
        std::error_code ignored;
        if (kind != mmlu || !fs::is_directory(path, ignored)) {
            if (auto added = addFile("task", path, kind + path.filename().string()); !added)
                return added;
            return kind == mmlu ? keepSolved(path) : Result<void>();
        }
        // A folder: an empty file stands for it, and all its questions lie beside that.
        m_request.options["task"] =
            wire::FilePlace{static_cast<std::uint32_t>(m_request.files.size())};
        m_request.files.push_back({std::string(mmlu) + '.', wire::Frame::of({})});
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(path, ignored))
            if (entry.path().extension() == ".csv"
                && !entry.path().stem().string().ends_with("_dev"))
                files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const fs::path& file : files) {
            if (auto kept = keepFile(file, file.filename().string()); !kept)
                return kept;
            if (auto kept = keepSolved(file); !kept)
                return kept;
        }
        return files.empty()
                   ? Result<void>(invalid(path.string() + " has no .csv file with questions",
                                          "Give the folder of the test files"))
                   : Result<void>();
    }

    Result<void> addReference(const std::string& path)
    {
        const auto reference = store::MappedRun::open(path);
        if (!reference)
            return reference.error();
        if (!(*reference)->complete() && (*reference)->rowCount() > 0)
            remark(path + " is incomplete; its rows so far are replayed.");
        live::replayRun(**reference, m_request);
        m_request.files.back().name = fs::path(path).filename().string();
        if (m_request.files.back().content.size() > wire::maxRequestFrameBytes)
            return invalid(path + " has more tokens than a request can carry",
                           "Copy it to the daemon's machine and run moire-capture run there");
        return {};
    }

    wire::RunRequest& m_request;
};

} // namespace

void addRecordOptions(CLI::App& command, RecordArguments& a)
{
    addRemoteOptions(
        command, a.remote,
        "How long the daemon is waited for when the link is lost, before the recording "
        "ends as incomplete",
        lostLinkSeconds);
    addRunOptions(command, a.run);
    // A model is one of the daemon's, and one recording one file.
    command.remove_option(command.get_option("MODEL"));
    command.remove_option(command.get_option("--matrix"));
    constexpr auto group = "What";
    CLI::Option* model =
        command
            .add_option("--model", a.run.model,
                        "Run this one of the daemon's models (moire-capture models lists them), "
                        "with the options of moire-capture run")
            ->type_name("NAME")
            ->group(group);
    command
        .add_option("--attach", a.attach,
                    "Record this run, which is being made or was (moire-capture runs lists them)")
        ->type_name("RUN")
        ->excludes(model)
        ->group(group);
    command.footer(
        "Examples:\n"
        "  moire-capture record --from gpu-box --key me.key --server-key gpu-box.pub \\\n"
        "      --model Qwen3-8B --text 'The capital of France is' --max-new 16 -o target.moire\n"
        "  moire-capture record --from tcp://127.0.0.1:7431 --attach 20261201-093000-1 "
        "-o again.moire");
}

Result<void> completeRequest(const CLI::App& command, RecordArguments& arguments)
{
    if (!arguments.attach && arguments.run.model.empty())
        return invalid("there is nothing to record",
                       "Name a model with --model, or a run with --attach");
    if (!arguments.run.output && !arguments.run.dryRun)
        return invalid("the recording needs a file", "Name it with -o OUT.moire");
    if (!arguments.attach) {
        RunArguments copy = arguments.run; // wrong options are told here, not by the daemon
        if (auto done = interpret(copy); !done)
            return done;
    }
    arguments.request.model = arguments.run.model;
    RequestWriter writer(arguments.request);
    for (const CLI::Option* option : command.get_options()) {
        if (option->count() == 0 || option->get_lnames().empty())
            continue;
        const std::string& name = option->get_lnames().front();
        if (std::ranges::find(ownOptions, name) != ownOptions.end())
            continue;
        if (arguments.attach)
            return invalid("--" + name
                               + " is about a run to be made, and --attach takes one that is there",
                           "Leave one of the two out");
        if (auto added = writer.add(name, *option); !added)
            return added;
    }
    return {};
}

} // namespace moire::app
