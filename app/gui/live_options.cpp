// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/live_options.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <filesystem>

namespace moire::gui {

using widgets::LivePlan;
using widgets::SidePlan;

namespace {

Error invalid(std::string sentence, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), {}, std::move(hint)};
}

/// A capture by its ending or because it is there; else an address.
bool isCapture(const std::string& side)
{
    std::error_code ignored;
    return side.ends_with(".moire") || std::filesystem::is_regular_file(side, ignored);
}

SidePlan sideOf(const LiveArguments& arguments, const std::string& where, const std::string& model,
                const std::string& serverKey, const std::string& options)
{
    SidePlan side;
    side.isFile = isCapture(where);
    if (side.isFile) {
        side.file = QString::fromStdString(where);
        return side;
    }
    side.daemon = {QString::fromStdString(where), QString::fromStdString(arguments.key),
                   QString::fromStdString(serverKey), arguments.insecure};
    side.model = QString::fromStdString(model);
    side.options = QString::fromStdString(options);
    return side;
}

bool hasLiveOption(const LiveArguments& arguments)
{
    const LiveArguments none;
    return arguments.model != none.model || arguments.targetModel != none.targetModel
           || arguments.text != none.text || arguments.prompts != none.prompts
           || arguments.maxNew != none.maxNew || arguments.taps != none.taps
           || arguments.level != none.level || arguments.referenceOptions != none.referenceOptions
           || arguments.targetOptions != none.targetOptions || arguments.key != none.key
           || arguments.serverKey != none.serverKey || arguments.insecure
           || arguments.targetServerKey != none.targetServerKey
           || arguments.picture != none.picture;
}

} // namespace

void addLiveOptions(CLI::App& command, LiveArguments& a)
{
    constexpr auto group = "Live";
    constexpr int mostTokens = 1'000'000;
    const auto add = [&command](const char* name, auto& to, const char* text, const char* type) {
        return command.add_option(name, to, text)->type_name(type)->group(group);
    };
    command
        .add_flag("--live", a.live,
                  "REF and TARGET are addresses of daemons (host:port) or captures: compare while "
                  "they run")
        ->group(group);
    add("--model", a.model, "Of the daemon's models", "NAME");
    add("--target-model", a.targetModel, "Of the target's daemon, when it is another", "NAME");
    CLI::Option* text = add("--text", a.text, "What both runs are given", "STR");
    add("--prompts", a.prompts, "JSON lines, a prompt a line", "FILE")->excludes(text);
    add("--max-new", a.maxNew, "Tokens that the reference writes", "N")
        ->check(CLI::Range(0, mostTokens))
        ->capture_default_str();
    add("--taps", a.taps, "Patterns of what is recorded", "PATTERN");
    add("--level", a.level, "full, topk or digest", "NAME");
    add("--reference-options", a.referenceOptions,
        "Further options of moire-capture run, in one word: '--arithmetic ordered'", "WORDS");
    add("--target-options", a.targetOptions, "The same for the target", "WORDS");
    add("--key", a.key, "Your key, for encrypted links", "FILE");
    add("--server-key", a.serverKey, "The daemons' public key, or a file with it", "KEY");
    add("--target-server-key", a.targetServerKey, "Of the target's daemon, when it is another",
        "KEY");
    command.add_flag("--insecure", a.insecure, "Links to other machines may go without encryption")
        ->group(group);
    add("--screenshot-live", a.picture,
        "Write a picture of the window when half of the rows are compared", "FILE");
}

Result<std::optional<LivePlan>> livePlanOf(const LiveArguments& arguments,
                                           const std::vector<std::string>& sides)
{
    if (!arguments.live) {
        if (hasLiveOption(arguments))
            return invalid("an option of live comparisons stands without --live",
                           "Write: moire --live REF TARGET --model NAME --text '…'");
        return std::optional<LivePlan>();
    }
    if (sides.size() != 2)
        return invalid("a live comparison needs two sides",
                       "Name two daemons, or one and a capture: moire --live HOST:PORT REF.moire");
    LivePlan plan;
    plan.reference = sideOf(arguments, sides[0], arguments.model, arguments.serverKey,
                            arguments.referenceOptions);
    plan.target =
        sideOf(arguments, sides[1],
               arguments.targetModel.empty() ? arguments.model : arguments.targetModel,
               arguments.targetServerKey.empty() ? arguments.serverKey : arguments.targetServerKey,
               arguments.targetOptions);
    if (plan.reference.isFile && plan.target.isFile)
        return invalid("two captures are not live", "Leave --live away: moire REF TARGET");
    if (arguments.model.empty())
        return invalid("no model is named", "Name one of the daemon's with --model");
    plan.text = QString::fromStdString(arguments.text);
    plan.promptsFile = QString::fromStdString(arguments.prompts);
    if (plan.reference.isFile && !(plan.text.isEmpty() && plan.promptsFile.isEmpty()))
        return invalid("the target scores the tokens of the reference's file",
                       "Leave --text and --prompts away");
    plan.maxNew = arguments.maxNew;
    for (const std::string& pattern : arguments.taps)
        plan.taps += QString::fromStdString(pattern) + ' ';
    plan.level = QString::fromStdString(arguments.level);
    return std::optional<LivePlan>(std::move(plan));
}

} // namespace moire::gui
