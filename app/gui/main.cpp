// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/main_window.h"
#include "app/gui/options.h"
#include "app/gui/screenshot.h"
#include "app/terminal/signals.h"
#include "core/report/partial_file.h"

#include <QApplication>
#include <QStyleFactory>

#include <cerrno>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

/// Pictures need no display; a window does.
bool hasDisplay()
{
    return !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")
           || !qEnvironmentVariableIsEmpty("DISPLAY")
           || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

/// Qt makes this folder too, but complains while it does.
void provideRuntimeFolder()
{
    if (!qEnvironmentVariableIsEmpty("XDG_RUNTIME_DIR"))
        return;
    const std::string folder = "/tmp/runtime-moire-" + std::to_string(geteuid());
    if (mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST)
        qputenv("XDG_RUNTIME_DIR", QByteArray::fromStdString(folder));
}

} // namespace

int main(int argc, char** argv)
{
    using namespace moire;
    app::prepareSignals(report::removePartialFiles);
    auto parsed = gui::parseOptions(argc, argv);
    if (const int* status = std::get_if<int>(&parsed))
        return *status;
    const auto& options = std::get<gui::Options>(parsed);
    const bool draws = !options.screenshot.isEmpty();
    if (draws && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    if (!hasDisplay())
        return gui::reportTrouble({Errc::Unsupported,
                                   "there is no display to open a window on",
                                   {},
                                   "use --screenshot FILE.png, or moire-diff for a report"});
    provideRuntimeFolder();
    int plainCount = 1; // our options are parsed; Qt gets none
    QApplication application(plainCount, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("moire"));
    QCoreApplication::setApplicationName(QStringLiteral("moire"));
    QCoreApplication::setApplicationVersion(QStringLiteral(MOIRE_VERSION));
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    gui::MainWindow window(options.theme);
    std::optional<gui::Screenshot> screenshot;
    window.resize(options.size);
    if (!draws)
        window.rememberSettings();
    else
        screenshot.emplace(window, options.screenshot, options.liveScreenshot);
    if (options.hasSize)
        window.resize(options.size);
    if (!options.view.isEmpty())
        window.showTab(options.view);
    window.judgeBy(options.judging);
    if (options.live)
        window.openLive(*options.live);
    else if (!options.paths.isEmpty())
        window.openRuns(options.paths, options.site);
    else if (!draws)
        window.resumeSession();
    window.show();
    return QApplication::exec();
}
