// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/options.h"

#include "app/terminal/arguments.h"
#include "app/terminal/terminal.h"
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
    constexpr int least = 320;
    constexpr int most = 16384;
    int width = 0;
    int height = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width < least
        || height < least || width > most || height > most)
        return std::nullopt;
    return QSize(width, height);
}

struct RawOptions
{
    std::vector<std::string> files;
    std::string site, view, theme, size, screenshot;
};

Result<Options> checked(const RawOptions& raw)
{
    Options options;
    options.site = QString::fromStdString(raw.site);
    options.screenshot = QString::fromStdString(raw.screenshot);
    if (raw.files.size() == 1 && raw.files[0].starts_with("moire:")) {
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
            return wrongValue("--size", raw.size, "WIDTHxHEIGHT, from 320x320 to 16384x16384");
        options.size = *size;
        options.hasSize = true;
    }
    for (const QString& capture : {options.paths.reference, options.paths.target}) {
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
    arguments.add_option("--goto", raw.site, "Start at this site: sample/position/tap")
        ->type_name("SITE");
    arguments.add_option("--view", raw.view, "Tab to show: logits, top-k or routing")
        ->type_name("NAME");
    arguments.add_option("--theme", raw.theme, "light or dark (default: as the desktop)")
        ->type_name("NAME");
    arguments.add_option("--size", raw.size, "Size of the window in pixels")->type_name("WxH");
    arguments.add_option("--screenshot", raw.screenshot, "Write a picture of the window and exit")
        ->type_name("FILE.png");
    arguments.set_version_flag("--version", std::string("moire ") + MOIRE_VERSION);
    arguments.footer("Examples:\n"
                     "  moire h100.moire mi300x.moire\n"
                     "  moire h100.moire mi300x.moire --goto fact/37/lm_head.out\n"
                     "  moire h100.moire mi300x.moire --theme dark --screenshot window.png");
    if (const auto status = app::parseArguments(arguments, argc, argv))
        return *status;
    Result<Options> options = checked(raw);
    if (!options)
        return reportTrouble(options.error());
    return *options;
}

} // namespace moire::gui
