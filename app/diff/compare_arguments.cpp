// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/compare_arguments.h"

#include "app/terminal/arguments.h"
#include "core/diff/shipped_profiles.h"
#include "core/diff/tap_mapping.h"
#include "core/diff/tolerance.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

namespace moire::app {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mostThreads = 1024;
constexpr std::uint64_t mostResamples = 1'000'000;

/// Nothing depends on the number of threads, so that more than the machine has only cost memory. A
/// few are started anyway, so that a small machine can show that.
unsigned mostWorkers()
{
    constexpr unsigned few = 8;
    return std::max(defaultThreads(), few);
}

constexpr const char* footer =
    "Other commands, each with its own --help:\n"
    "  moire-diff info FILE                   what a capture holds\n"
    "  moire-diff show FILE [TARGET] SITE     values and bits at one site\n"
    "  moire-diff matrix REF T1 T2 ...        every capture against every other\n"
    "  moire-diff study REF T1 T2 ...         several targets against one reference\n"
    "  moire-diff verify FILE                 digests and tables against the values\n"
    "  moire-diff export FILE --npy DIR       NumPy arrays, CSV or safetensors\n"
    "A capture that is named like a command is reached as ./info.\n"
    "\n"
    "Exit status: 0 no divergence by the criterion (bitwise, unless --tolerance or\n"
    "--criterion is given), 1 divergence, 2 trouble, 3 not comparable (every format\n"
    "but text has a document that says why; in junit its only case is an error).\n"
    "\n"
    "Examples:\n"
    "  moire-diff h100.moire mi300x.moire\n"
    "  moire-diff h100.moire mi300x.moire -o report.html\n"
    "  moire-diff main.moire branch.moire --criterion 'ulp<=2' --format junit\n"
    "  moire-diff main.moire branch.moire --criterion 'floor(2)' --repeat main2.moire\n"
    "  moire-diff main.moire branch.moire --taps '*.mlp.*' --format json | jq .first\n"
    "  moire-diff --live one:7431 two:7431 --model m --text Hello --stop-at-first";

Error contradiction(const std::string& sentence, const std::string& hint)
{
    return {Errc::Invalid, sentence, {}, hint};
}

void describeCriteria(CLI::App& app, CompareArguments& given)
{
    constexpr auto group = "What counts as a divergence";
    app.add_option("--tolerance", given.tolerance,
                   "Judge by a shipped profile (" + diff::shippedProfileNames()
                       + "), or by the one in this file (TOML or JSON)")
        ->type_name("PROFILE")
        ->group(group);
    app.add_option("--criterion", given.criteria,
                   "Judge by this everywhere: bitwise, ulp<=N, abs<=x, rel<=x, allclose(rtol, "
                   "atol), kl<=x, topk>=x, routes>=x, tokens>=x or floor(k); may be repeated")
        ->type_name("WORDS")
        ->allow_extra_args(false)
        ->group(group);
    app.add_option("--repeat", given.repeat,
                   "A second capture of the reference's configuration: the noise floor")
        ->type_name("REF2")
        ->group(group);
    app.add_flag("--allow-missing", given.comparison.allowMissing,
                 "What has no counterpart does not count as a difference")
        ->group(group);
}

Result<void> readTolerance(CompareArguments& given)
{
    using diff::Criterion;
    if (!given.tolerance.empty()) {
        auto profile = diff::findTolerance(given.tolerance);
        if (!profile)
            return profile.error();
        given.comparison.tolerance = std::make_shared<const diff::Tolerance>(std::move(*profile));
    } else if (!given.criteria.empty()) {
        std::vector<Criterion> criteria;
        for (const std::string& text : given.criteria) {
            auto criterion = diff::parseCriterion(text);
            if (!criterion)
                return criterion.error();
            criteria.push_back(std::move(*criterion));
        }
        given.comparison.tolerance = std::make_shared<const diff::Tolerance>(
            diff::Tolerance::everywhere(std::move(criteria)));
    }
    const auto& tolerance = given.comparison.tolerance;
    if (tolerance && tolerance->uses(Criterion::Kind::Floor) && given.repeat.empty())
        return contradiction("floor(k) needs a repeat of the reference",
                             "Give one with --repeat REF2");
    return {};
}

} // namespace

unsigned defaultThreads()
{
    return std::max(1U, std::thread::hardware_concurrency());
}

void addThreads(CLI::App& app, unsigned& threads)
{
    threads = defaultThreads();
    app.add_option_function<unsigned>(
           "--threads", [&threads](unsigned wanted) { threads = std::min(wanted, mostWorkers()); },
           "Threads to work with (default: all of the machine; more are not started)")
        ->type_name("N")
        ->check(wholeNumber(1, mostThreads));
}

void addResamples(CLI::App& app, unsigned& resamples)
{
    app.add_option("--resamples", resamples, "Resamples behind each interval; 0 leaves them out")
        ->type_name("N")
        ->check(wholeNumber(0, mostResamples))
        ->capture_default_str();
}

void addSelection(CLI::App& app, diff::AlignmentOptions& alignment)
{
    constexpr auto group = "What is compared";
    app.add_option("--taps", alignment.tapPatterns,
                   "Only taps like this ('*' crosses dots); may be repeated")
        ->type_name("GLOB")
        ->allow_extra_args(false)
        ->group(group);
    app.add_option("--samples", alignment.samplePatterns,
                   "Only samples whose id is like this; may be repeated")
        ->type_name("GLOB")
        ->allow_extra_args(false)
        ->group(group);
}

void describeCompare(CLI::App& app, CompareArguments& given)
{
    app.add_option("REF", given.reference, "The reference capture")->required();
    app.add_option("TARGET", given.target, "The target capture")->required();
    app.add_option("--format", given.format,
                   "text, json, html, csv, md or junit (default: what the output's name ends in, "
                   "else text)")
        ->check(oneOf({"text", "json", "html", "csv", "md", "junit"}))
        ->type_name("FORMAT");
    app.add_option("-o,--output", given.output, "Write to FILE instead of the standard output (-)")
        ->type_name("FILE");
    app.add_flag("--quiet", given.quiet, "No progress; of the text only the verdict");
    addThreads(app, given.threads);
    addResamples(app, given.comparison.resamples);
    addSelection(app, given.alignment);
    app.add_option("--mapping", given.mapping,
                   "Which taps stand for each other where names differ (TOML or JSON)")
        ->type_name("FILE")
        ->group("What is compared");
    app.add_flag("--first", given.comparison.firstOnly,
                 "Only the first divergences, from digests and tables; no value is read")
        ->group("What is compared");
    describeCriteria(app, given);
    app.set_version_flag("--version", "moire-diff " MOIRE_VERSION);
    app.footer(footer);
}

Result<void> completeOptions(CompareArguments& given)
{
    const bool judged = !given.tolerance.empty() || !given.criteria.empty();
    if (!given.tolerance.empty() && !given.criteria.empty())
        return contradiction("--tolerance and --criterion both say what counts",
                             "Leave one of the two out, or put the criterion into the profile");
    if (given.comparison.firstOnly && (judged || !given.repeat.empty()))
        return contradiction("--first reads no values, which a tolerance or a repeat needs",
                             "Leave --first out");
    if (!given.format)
        if (auto format = report::formatOfFile(given.output); !format)
            return format.error();
    std::error_code ignored;
    if (!given.repeat.empty() && fs::equivalent(given.repeat, given.reference, ignored))
        return contradiction("the repeat is the reference itself, so its noise floor is nothing",
                             "Capture the reference's configuration a second time");
    if (auto read = readTolerance(given); !read)
        return read;
    if (given.mapping.empty())
        return {};
    auto mapping = diff::TapMapping::read(given.mapping);
    if (!mapping)
        return mapping.error();
    given.alignment.mapping = std::make_shared<const diff::TapMapping>(std::move(*mapping));
    return {};
}

report::Format formatOf(const CompareArguments& given)
{
    if (given.format)
        if (const auto asked = report::formatNamed(*given.format))
            return *asked;
    const auto byEnding = report::formatOfFile(given.output);
    return byEnding ? *byEnding : report::Format::Text; // completeOptions() has refused it
}

} // namespace moire::app
