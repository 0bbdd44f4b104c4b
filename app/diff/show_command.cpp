// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/open_run.h"
#include "app/diff/terminal.h"
#include "core/report/site.h"

namespace moire::app {

int showCommand(int argc, const char* const* argv)
{
    CLI::App arguments("Shows one site of a capture: values, bits, digest, row statistics.",
                       "moire-diff show");
    std::string file;
    std::string place;
    bool all = false;
    arguments.add_option("FILE", file, "The capture")->required();
    arguments.add_option("SITE", place, "sample/position/tap[/element]")->required();
    arguments.add_flag("--all", all, "Every value, not only the first and the largest");
    arguments.footer("Examples:\n"
                     "  moire-diff show run.moire fact/37/model.layers.12.mlp.down_proj.out\n"
                     "  moire-diff show run.moire fact/37/lm_head.out/278");
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    const auto site = diff::parseSite(place);
    if (!site)
        return tell(site.error());
    const auto run = openRun(file);
    if (!run)
        return tell(run.error());
    const auto text = report::describeSite(
        **run, *site, all ? report::SiteExtent::All : report::SiteExtent::Some);
    if (!text)
        return tell(text.error());
    return print(*text);
}

} // namespace moire::app
