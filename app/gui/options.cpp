// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/options.h"

#include "app/gui/drawing.h"
#include "app/gui/live_options.h"
#include "app/terminal/arguments.h"
#include "app/terminal/terminal.h"
#include "core/diff/shipped_profiles.h"
#include "widgets/models/site_link.h"
#include "widgets/views/comparison_view.h"

#include <CLI/App.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace moire::gui {

namespace {

Error wrongValue(const std::string& option, const std::string& value, const std::string& allowed)
{
    return {Errc::Invalid, option + " cannot be '" + value + "'", {}, "Give " + allowed};
}

std::optional<QSize> sizeFrom(const std::string& text)
{
    constexpr int most = 16384;
    int width = 0;
    int height = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2
        || width < leastWindow.width() || height < leastWindow.height() || width > most
        || height > most)
        return std::nullopt;
    return QSize(width, height);
}

struct RawOptions
{
    std::vector<std::string> files;
    std::string site, view, theme, size, screenshot, tolerance, repeat;
    std::vector<std::string> criteria;
    LiveArguments live;
};

/// A mistake in them is told before anything is opened.
Result<void> checkJudging(const Options& options)
{
    const widgets::Judging& judging = options.judging;
    if (options.paths.isEmpty() && !options.live && !judging.isEmpty())
        return Error{Errc::Invalid,
                     "--tolerance, --criterion and --repeat need two captures",
                     {},
                     "Name them: moire REF TARGET"};
    const auto tolerance = widgets::toleranceOf(judging);
    return tolerance ? Result<void>() : tolerance.error();
}

Result<Options> checked(const RawOptions& raw)
{
    Options options;
    options.site = QString::fromStdString(raw.site);
    options.screenshot = QString::fromStdString(raw.screenshot);
    auto live = livePlanOf(raw.live, raw.files);
    if (!live)
        return live.error();
    options.live = std::move(*live);
    options.liveScreenshot = QString::fromStdString(raw.live.picture);
    if (options.live) {
        if (!raw.repeat.empty())
            return Error{Errc::Invalid,
                         "a live comparison has no repeat",
                         {},
                         "Leave --repeat away, or compare the two captures afterwards"};
    } else if (raw.files.size() == 1 && raw.files[0].starts_with("moire:")) {
        const auto link = widgets::parseLink(QString::fromStdString(raw.files[0]));
        if (!link)
            return link.error();
        options.paths = link->paths;
        if (options.site.isEmpty())
            options.site = link->site;
    } else if (raw.files.size() == 1) {
        return Error{Errc::Invalid, "one capture alone cannot be compared", raw.files[0],
                     "Name two: moire REF TARGET"};
    } else if (raw.files.size() == 2) {
        options.paths = {QString::fromStdString(raw.files[0]),
                         QString::fromStdString(raw.files[1])};
    }
    if (!raw.theme.empty()) {
        if (raw.theme != "light" && raw.theme != "dark")
            return wrongValue("--theme", raw.theme, "light or dark");
        options.theme = raw.theme == "dark" ? widgets::ThemeKind::Dark : widgets::ThemeKind::Light;
    }
    options.view = QString::fromStdString(raw.view);
    const QStringList tabs = widgets::ComparisonView::tabNames();
    if (!raw.view.empty() && !tabs.contains(options.view))
        return wrongValue("--view", raw.view, tabs.join(", ").toStdString());
    if (!raw.size.empty()) {
        const auto size = sizeFrom(raw.size);
        if (!size)
            return wrongValue("--size", raw.size, "WIDTHxHEIGHT, from 1000x640 to 16384x16384");
        options.size = *size;
        options.hasSize = true;
    }
    for (const QString& picture : {options.screenshot, options.liveScreenshot})
        if (!picture.isEmpty())
            if (auto named = checkPictureName(picture); !named)
                return named.error();
    options.judging = {QString::fromStdString(raw.tolerance), QString::fromStdString(raw.repeat)};
    for (const std::string& criterion : raw.criteria)
        options.judging.criteria.append(QString::fromStdString(criterion));
    if (auto usable = checkJudging(options); !usable)
        return usable.error();
    for (const QString& capture :
         {options.paths.reference, options.paths.target, options.judging.repeat}) {
        std::error_code ignored; // what does not exist is told when it is opened
        if (std::filesystem::equivalent(capture.toStdString(), raw.screenshot, ignored))
            return Error{Errc::Invalid, "is one of the captures to compare", raw.screenshot,
                         "Name another file for the picture"};
    }
    if (!options.site.isEmpty() && options.paths.isEmpty())
        return Error{Errc::Invalid, "--goto needs two captures", {}, "Name them: moire REF TARGET"};
    return options;
}

} // namespace

int reportTrouble(const Error& error)
{
    return app::tell("moire", error);
}

std::variant<Options, int> parseOptions(int argc, char** argv)
{
    CLI::App arguments("Lays two runs of one language model over each other and shows where they "
                       "first part.",
                       "moire");
    RawOptions raw;
    arguments
        .add_option("REF TARGET", raw.files,
                    "The reference and the target; or one moire:// link, which names both")
        ->expected(0, 2);
    arguments
        .add_option("--goto", raw.site,
                    "Start at this site: sample/position/tap (default: the first divergence)")
        ->type_name("SITE");
    auto* tolerance = arguments
                          .add_option("--tolerance", raw.tolerance,
                                      "Judge by a shipped profile (" + diff::shippedProfileNames()
                                          + "), or by the one in this file (TOML or JSON)")
                          ->type_name("PROFILE");
    arguments
        .add_option("--criterion", raw.criteria,
                    "Judge by this, such as 'ulp<=2' or 'kl<=1e-3'; may be repeated")
        ->type_name("CRITERION")
        ->allow_extra_args(false)
        ->excludes(tolerance);
    arguments
        .add_option("--repeat", raw.repeat,
                    "A repeat of the reference, which gives the noise floor")
        ->type_name("REF2");
    arguments
        .add_option("--view", raw.view,
                    "Tab to show: logits, top-k, routing or live (default: top-k; the site in a "
                    "low window)")
        ->type_name("NAME");
    arguments.add_option("--theme", raw.theme, "light or dark (default: as the desktop)")
        ->type_name("NAME");
    arguments
        .add_option("--size", raw.size,
                    "Size of the window in pixels, at least 1000x640 (default: 1280x800, or as it "
                    "was left)")
        ->type_name("WxH");
    arguments
        .add_option("--screenshot", raw.screenshot,
                    "Write a picture of the window (.png, .pdf or .svg) and exit")
        ->type_name("FILE");
    addLiveOptions(arguments, raw.live);
    arguments.set_version_flag("--version", std::string("moire ") + MOIRE_VERSION);
    arguments.footer("Examples:\n"
                     "  moire h100.moire mi300x.moire\n"
                     "  moire h100.moire mi300x.moire --goto fact/37/lm_head.out\n"
                     "  moire h100.moire mi300x.moire --theme dark --screenshot window.png\n"
                     "  moire --live gpu1:7431 gpu2:7431 --model olmoe --text 'Once upon a time'");
    if (const auto status = app::parseArguments(arguments, argc, argv))
        return *status;
    Result<Options> options = checked(raw);
    if (!options)
        return reportTrouble(options.error());
    return *options;
}

} // namespace moire::gui
