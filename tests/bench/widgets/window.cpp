// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/main_window.h"
#include "core/store/writer.h"
#include "tests/bench/figure.h"
#include "tests/widgets/made_runs.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace moire;

namespace {

/// Two captures of the demo's shape: ≈ 210 rows of SmolLM2-135M, every tap.
test::MadeModel demoShape()
{
    test::MadeModel model = test::demoLikeModel();
    model.width = 576;
    model.vocabulary = 49152;
    for (auto& sample : model.samples)
        sample.split.reset();
    return model;
}

bool write(const QString& path, const test::MadeModel& model, bool target)
{
    auto writer = store::Writer::create(path.toStdString(), test::madeHeader(model, target));
    if (!writer) {
        std::fprintf(stderr, "bench_window: %s\n", writer.error().text().c_str());
        return false;
    }
    test::fill(**writer, model, target);
    return true;
}

/// Seconds from nothing to a window that stands at the first divergence and can be worked with;
/// measures fill in behind.
double openOnce(const widgets::RunPaths& paths)
{
    QElapsedTimer timer;
    timer.start();
    gui::MainWindow window(widgets::ThemeKind::Light);
    window.resize(1280, 800);
    window.show();
    window.openRuns(paths);
    QTimer poll;
    QObject::connect(&poll, &QTimer::timeout, qApp, [&window] {
        if (window.isUsable() || window.trouble())
            QCoreApplication::exit();
    });
    poll.start(1);
    QApplication::exec();
    const QPixmap picture = window.grab();
    return picture.isNull() || window.trouble() ? 1e9
                                                : static_cast<double>(timer.nsecsElapsed()) * 1e-9;
}

} // namespace

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    QTemporaryDir folder;
    widgets::RunPaths paths{folder.filePath(QStringLiteral("reference.moire")),
                            folder.filePath(QStringLiteral("target.moire"))};
    const bool given = argc == 3; // REF TARGET: the demo's own files, say
    if (given)
        paths = {QString::fromLocal8Bit(argv[1]), QString::fromLocal8Bit(argv[2])};
    const test::MadeModel model = demoShape();
    if (!given && (!write(paths.reference, model, false) || !write(paths.target, model, true)))
        return 2;
    constexpr int rounds = 5;
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round)
        seconds.push_back(openOnce(paths));
    std::sort(seconds.begin(), seconds.end());
    constexpr double goal = 1.0;
    bench::printAbsoluteFigure(given ? "window usable on the captures given"
                                     : "window usable on demo-like captures",
                               "s", seconds[rounds / 2], goal, bench::Sense::Max);
    return 0;
}
