// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/live_arguments.h"

#include "app/terminal/arguments.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace moire::app {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t lostLinkSeconds = 300;

Error invalid(std::string sentence, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), {}, std::move(hint)};
}

Error leaveOut(const std::string& option, const std::string& why)
{
    return invalid(option + " does not go with this: " + why, "Leave " + option + " out");
}

/// What of the two sides there is to say something about.
struct Sides
{
    bool referenceIsFile, targetIsFile;
    bool referenceBegins, targetBegins; ///< a run is made for it
};

Result<void> checkSides(const CompareArguments& compare, const LiveArguments& live,
                        const Sides& sides)
{
    if (sides.referenceIsFile && sides.targetIsFile)
        return invalid("two captures are not live", "Leave --live out: moire-diff REF TARGET");
    if (sides.referenceIsFile && !live.referenceRun.empty())
        return leaveOut("--reference-run", compare.reference + " is a capture");
    if (sides.targetIsFile && !live.targetRun.empty())
        return leaveOut("--target-run", compare.target + " is a capture");
    if (sides.targetIsFile && !live.targetServerKey.empty())
        return leaveOut("--target-server-key", compare.target + " is a capture");
    if (live.stopAtFirst && !compare.repeat.empty())
        return invalid("--stop-at-first judges rows as they come, and --repeat asks for all of "
                       "them",
                       "Leave one of the two out");
    return {};
}

/// Options that say how a run is to be made, where none is.
Result<void> checkRuns(const LiveArguments& live, const Sides& sides)
{
    const std::string reference = sides.referenceIsFile ? "the reference is a capture"
                                                        : "the reference is a run that is there";
    const std::string target =
        sides.targetIsFile ? "the target is a capture" : "the target is a run that is there";
    const std::vector<std::pair<const char*, bool>> ofReference{
        {"--text", live.text.has_value()},
        {"--prompts", !live.prompts.empty()},
        {"--max-new", live.maxNew.has_value()},
        {"--reference-options", !live.referenceOptions.empty()}};
    const std::vector<std::pair<const char*, bool>> ofTarget{
        {"--target-model", !live.targetModel.empty()},
        {"--target-options", !live.targetOptions.empty()}};
    const std::vector<std::pair<const char*, bool>> ofBoth{{"--model", !live.model.empty()},
                                                           {"--level", !live.level.empty()}};
    for (const auto& [option, given] : ofReference)
        if (given && !sides.referenceBegins)
            return leaveOut(option, reference);
    for (const auto& [option, given] : ofTarget)
        if (given && !sides.targetBegins)
            return leaveOut(option, target);
    for (const auto& [option, given] : ofBoth)
        if (given && !sides.referenceBegins && !sides.targetBegins)
            return leaveOut(option, "no run is made");
    if (live.model.empty()
        && (sides.referenceBegins || (sides.targetBegins && live.targetModel.empty())))
        return invalid("no model is named",
                       "Name one of the daemon's with --model (moire-capture models lists them), "
                       "or a run that is there with --reference-run or --target-run");
    return {};
}

bool sameFile(const std::string& one, const std::string& other)
{
    std::error_code ignored;
    return fs::equivalent(one, other, ignored)
           || fs::weakly_canonical(one, ignored) == fs::weakly_canonical(other, ignored);
}

Result<void> checkSaved(const CompareArguments& compare, const LiveArguments& live,
                        const Sides& sides)
{
    if (sides.referenceIsFile && !live.saveReference.empty())
        return leaveOut("--save-reference", compare.reference + " is a capture already");
    if (sides.targetIsFile && !live.saveTarget.empty())
        return leaveOut("--save-target", compare.target + " is a capture already");
    for (const std::string& saved : {live.saveReference, live.saveTarget})
        for (const std::string& other : {compare.reference, compare.target, compare.repeat,
                                         compare.tolerance, compare.mapping, compare.output})
            if (!saved.empty() && !other.empty() && sameFile(saved, other))
                return Error{Errc::Invalid, "is named twice", saved,
                             "Save the run under a name of its own"};
    if (!live.saveReference.empty() && !live.saveTarget.empty()
        && sameFile(live.saveReference, live.saveTarget))
        return Error{Errc::Invalid, "is named twice", live.saveTarget,
                     "Save each run under a name of its own"};
    return {};
}

} // namespace

void describeLive(CLI::App& app, LiveArguments& a)
{
    constexpr auto group = "Live";
    constexpr std::uint64_t mostWait = 7UL * 24 * 3600;
    constexpr std::uint64_t mostTokens = 1'000'000;
    CLI::Option* live =
        app.add_flag("--live", a.live,
                     "REF and TARGET are daemons (HOST:PORT), or one of them a capture: compare "
                     "while they run")
            ->group(group);
    const auto add = [&](const char* name, auto& to, const char* text, const char* type) {
        return app.add_option(name, to, text)->type_name(type)->group(group)->needs(live);
    };
    add("--model", a.model, "Run this one of the daemons' models", "NAME");
    add("--target-model", a.targetModel, "The target's, where it is another", "NAME");
    CLI::Option* text = add("--text", a.text, "A prompt, raw", "STR");
    add("--prompts", a.prompts, "JSONL, a prompt a line", "FILE")->excludes(text);
    add("--max-new", a.maxNew, "Tokens that the reference writes (default: 32)", "N")
        ->check(wholeNumber(0, mostTokens));
    add("--level", a.level, "full, topk or digest (default: full)", "LEVEL")
        ->check(oneOf({"full", "topk", "digest"}));
    add("--reference-options", a.referenceOptions,
        "Further options of moire-capture run, in one word: '--arithmetic ordered'", "WORDS");
    add("--target-options", a.targetOptions, "The same for the target", "WORDS");
    add("--reference-run", a.referenceRun,
        "Take this run, which is being made or was, and make none", "RUN");
    add("--target-run", a.targetRun, "The same for the target", "RUN");
    app.add_flag("--stop-at-first", a.stopAtFirst,
                 "End as soon as the exit status is certain; runs begun here are cancelled")
        ->group(group)
        ->needs(live);
    add("--save-reference", a.saveReference, "Keep what comes as a capture", "FILE");
    add("--save-target", a.saveTarget, "The same of the target", "FILE");
    add("--key", a.key, "One's own key, NAME.key of moire-capture keygen", "FILE");
    add("--server-key", a.serverKey, "The daemons' public key, or the file that holds it", "KEY");
    add("--target-server-key", a.targetServerKey, "The target's, where it is another", "KEY");
    app.add_flag("--insecure", a.insecure,
                 "Reach another machine without keys and without a tunnel")
        ->group(group)
        ->needs(live);
    a.wait = lostLinkSeconds;
    add("--wait", a.wait, "How long a daemon is waited for when the link is lost", "SECONDS")
        ->check(wholeNumber(0, mostWait))
        ->capture_default_str();
}

bool isCapture(const std::string& side)
{
    std::error_code ignored;
    return side.ends_with(".moire") || side.ends_with(".moire.part")
           || fs::is_regular_file(side, ignored);
}

Result<void> checkLive(const CompareArguments& compare, const LiveArguments& live)
{
    Sides sides{isCapture(compare.reference), isCapture(compare.target), false, false};
    sides.referenceBegins = !sides.referenceIsFile && live.referenceRun.empty();
    sides.targetBegins = !sides.targetIsFile && live.targetRun.empty();
    if (auto checked = checkSides(compare, live, sides); !checked)
        return checked;
    if (auto checked = checkRuns(live, sides); !checked)
        return checked;
    return checkSaved(compare, live, sides);
}

} // namespace moire::app
