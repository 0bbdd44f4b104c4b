// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/live_plan.h"
#include "widgets/models/open_runs.h"
#include "widgets/plot/look.h"

#include <QSize>
#include <QString>

#include <optional>
#include <variant>

namespace moire::gui {

/// Everything has its place and no text is cut from this size on.
inline constexpr QSize leastWindow{1000, 640};

/// What the command line asks for.
struct Options
{
    widgets::RunPaths paths;
    widgets::Judging judging;
    QString site;
    QString view;
    std::optional<widgets::ThemeKind> theme;
    QSize size{1280, 800};
    bool hasSize = false;
    QString screenshot;
    std::optional<widgets::LivePlan> live;
    QString liveScreenshot; ///< when half of its rows are compared
};

/// The options, or the exit status of a program that has already said what there is to say
/// (0 after --help and --version on stdout, 2 after one sentence on stderr).
std::variant<Options, int> parseOptions(int argc, char** argv);

/// Writes an Error to stderr as one line; returns the exit status of trouble.
int reportTrouble(const Error& error);

} // namespace moire::gui
