// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/exit_status.h"
#include "app/diff/open_run.h"
#include "app/terminal/arguments.h"
#include "core/report/site.h"
#include "core/report/site_pair.h"

#include <limits>
#include <vector>

namespace moire::app {

namespace {

constexpr std::size_t fewElements = 16;

struct ShowArguments
{
    std::vector<std::string> words; ///< FILE [TARGET] SITE
    bool all = false;
};

Result<std::string> describe(const ShowArguments& given)
{
    const auto site = diff::parseSite(given.words.back());
    if (!site)
        return site.error();
    const auto run = openRun(given.words.front());
    if (!run)
        return run.error();
    if (given.words.size() == 2)
        return report::describeSite(**run, *site,
                                    given.all ? report::SiteExtent::All : report::SiteExtent::Some);
    const auto target = openRun(given.words[1]);
    if (!target)
        return target.error();
    return report::describeSitePair(
        *run, *target, *site, given.all ? std::numeric_limits<std::size_t>::max() : fewElements);
}

} // namespace

int showCommand(int argc, const char* const* argv)
{
    constexpr int fewest = 2;
    constexpr int most = 3;
    CLI::App arguments("Shows one site of a capture, or of two side by side: values, bits, ulps, "
                       "statistics.",
                       "moire-diff show");
    ShowArguments given;
    arguments
        .add_option("FILE [TARGET] SITE", given.words,
                    "One capture or two, and the place: sample/position/tap[/element]; a tap's "
                    "leading 'model.' and its '.out' may be left out")
        ->required()
        ->expected(fewest, most);
    arguments.add_flag("--all", given.all, "Every value, not only the first, largest or worst");
    arguments.footer("Examples:\n"
                     "  moire-diff show run.moire fact/37/layers.12.mlp.down_proj.out\n"
                     "  moire-diff show h100.moire mi300x.moire fact/37/lm_head.out\n"
                     "  moire-diff show run.moire fact/37/lm_head.out/278");
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    const auto text = describe(given);
    return text ? print(*text) : tell(text.error());
}

} // namespace moire::app
