// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/store/writer.h"
#include "tests/widgets/made_runs.h"

#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace moire;

/// The program as a person starts it.
class ProgramTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void helpAndVersion();
    void screenshot_data();
    void screenshot();
    void emptyScreenshot();
    void trouble_data();
    void trouble();

private:
    struct Outcome
    {
        int status = -1;
        QString out, err;
    };
    Outcome run(const QStringList& arguments) const;

    QTemporaryDir m_folder;
};

void ProgramTest::initTestCase()
{
    test::MadeModel model;
    model.samples = {{"fact", 6, 8, 10, 2}};
    for (const bool target : {false, true}) {
        const QString path = m_folder.filePath(target ? "target.moire" : "reference.moire");
        auto writer = store::Writer::create(path.toStdString(), test::madeHeader(model, target));
        QVERIFY(writer);
        test::fill(**writer, model, target);
    }
    QFile text(m_folder.filePath("text.moire"));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write("hello");
}

ProgramTest::Outcome ProgramTest::run(const QStringList& arguments) const
{
    QProcess process;
    process.setWorkingDirectory(m_folder.path());
    process.start(qEnvironmentVariable("MOIRE_BIN") + QStringLiteral("/moire"), arguments);
    constexpr int patience = 60000;
    if (!process.waitForFinished(patience) || process.exitStatus() != QProcess::NormalExit)
        return {};
    return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
}

void ProgramTest::helpAndVersion()
{
    const Outcome help = run({"--help"});
    QCOMPARE(help.status, 0);
    for (const char* option : {"--goto", "--view", "--theme", "--size", "--screenshot"})
        QVERIFY2(help.out.contains(QLatin1String(option)), option);
    const Outcome version = run({"--version"});
    QCOMPARE(version.status, 0);
    QVERIFY(version.out.startsWith(QStringLiteral("moire ")));
}

void ProgramTest::screenshot_data()
{
    QTest::addColumn<QString>("theme");
    QTest::addColumn<QString>("view");
    QTest::addColumn<QSize>("size");
    QTest::addColumn<QRgb>("ground");
    QTest::newRow("light") << "light"
                           << "top-k" << QSize(1280, 800) << qRgb(0xf4, 0xf5, 0xf7);
    QTest::newRow("dark") << "dark"
                          << "logits" << QSize(1920, 1200) << qRgb(0x16, 0x18, 0x1d);
    QTest::newRow("routing") << "light"
                             << "routing" << QSize(1000, 640) << qRgb(0xf4, 0xf5, 0xf7);
}

void ProgramTest::screenshot()
{
    QFETCH(QString, theme);
    QFETCH(QString, view);
    QFETCH(QSize, size);
    QFETCH(QRgb, ground);
    const QString file = m_folder.filePath(QStringLiteral("window.png"));
    QFile::remove(file);
    const Outcome outcome =
        run({"reference.moire", "target.moire", "--theme", theme, "--view", view, "--size",
             QStringLiteral("%1x%2").arg(size.width()).arg(size.height()), "--goto",
             "fact/4/model.layers.1.out", "--screenshot", file});
    QCOMPARE(outcome.err, QString());
    QCOMPARE(outcome.status, 0);
    const QImage image(file);
    QCOMPARE(image.size(), size);
    QCOMPARE(image.pixel(3, size.height() / 2), ground);
}

void ProgramTest::emptyScreenshot()
{
    const Outcome outcome = run({"--screenshot", "empty.png"});
    QCOMPARE(outcome.status, 0);
    QVERIFY(!QImage(m_folder.filePath("empty.png")).isNull());
}

void ProgramTest::trouble_data()
{
    QTest::addColumn<QStringList>("arguments");
    const QStringList files{"reference.moire", "target.moire"};
    QTest::newRow("unknown option") << QStringList{"--colour"};
    QTest::newRow("unknown option with a word") << files + QStringList{"--colour", "red"};
    QTest::newRow("criterion") << files + QStringList{"--criterion", "bits"};
    QTest::newRow("criterion and profile")
        << files + QStringList{"--criterion", "ulp<=2", "--tolerance", "strict"};
    QTest::newRow("one file") << QStringList{"reference.moire"};
    QTest::newRow("three files") << QStringList{"a", "b", "c"};
    QTest::newRow("theme") << files + QStringList{"--theme", "pink"};
    QTest::newRow("view") << files + QStringList{"--view", "timeline"};
    QTest::newRow("size") << files + QStringList{"--size", "12by10"};
    QTest::newRow("tiny size") << files + QStringList{"--size", "1x1"};
    QTest::newRow("too small a size") << files + QStringList{"--size", "999x640"};
    QTest::newRow("site without files") << QStringList{"--goto", "a/1/b"};
    QTest::newRow("foreign link") << QStringList{"moire://nowhere"};
    QTest::newRow("missing file") << QStringList{"missing.moire", "target.moire", "--screenshot",
                                                 "x.png"};
    QTest::newRow("not a capture")
        << QStringList{"text.moire", "target.moire", "--screenshot", "x.png"};
    QTest::newRow("no such site") << files
                                         + QStringList{"--goto", "fact/99/lm_head.out",
                                                       "--screenshot", "x.png"};
    QTest::newRow("onto a capture") << files + QStringList{"--screenshot", "./target.moire"};
    QTest::newRow("no picture") << files + QStringList{"--screenshot", "x.jpg"};
    QTest::newRow("no ending") << files + QStringList{"--screenshot", "x"};
    QTest::newRow("no such folder") << files + QStringList{"--screenshot", "no/such/x.png"};
}

void ProgramTest::trouble()
{
    QFETCH(QStringList, arguments);
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.status, 2);
    QCOMPARE(outcome.out, QString());
    QVERIFY2(outcome.err.startsWith(QStringLiteral("moire: ")), qPrintable(outcome.err));
    QCOMPARE(outcome.err.count('\n'), 1);
    if (arguments.contains(QStringLiteral("--colour")))
        QVERIFY2(outcome.err.contains(QStringLiteral("no option --colour")),
                 qPrintable(outcome.err));
    if (arguments.contains(QStringLiteral("bits")))
        QVERIFY2(outcome.err.contains(QStringLiteral("Criteria: bitwise")),
                 qPrintable(outcome.err));
}

QTEST_GUILESS_MAIN(ProgramTest)
#include "program_test.moc"
