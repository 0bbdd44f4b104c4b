// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/progress.h"
#include "core/store/mapped_run.h"
#include "core/store/verify.h"
#include "core/store/writer.h"
#include "tests/core/store/sample_run.h"

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <cstring>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace moire;
using namespace moire::store;

namespace {

constexpr std::uint32_t blockRows = 3;

trace::RowBlock blockNumber(const trace::RunHeader& header, std::uint32_t number)
{
    return test::randomBlock(header, trace::SampleIndex{0}, number * blockRows, blockRows, number);
}

/// Appends blocks until something goes wrong or `blocks` are written; the error, if any.
Result<void> appendBlocks(Writer& writer, const trace::RunHeader& header, std::uint32_t blocks)
{
    if (auto begun = writer.beginSample({}, std::vector<trace::Token>(3000)); !begun)
        return begun.error();
    for (std::uint32_t number = 0; number < blocks; ++number)
        if (auto appended = writer.append(blockNumber(header, number)); !appended)
            return appended;
    return writer.flush();
}

/// Whether every row of a run is the one that blockNumber() makes.
bool rowsAreRight(const trace::Run& run)
{
    trace::RowBlock block;
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r) {
        const std::size_t at = r % blockRows;
        if (at == 0)
            block = blockNumber(run.header(), static_cast<std::uint32_t>(r / blockRows));
        if (run.row(r) != block.rows[at])
            return false;
        for (std::size_t t = 0; t < run.header().taps.size(); ++t) {
            const std::size_t bytes = run.header().taps[t].rowBytes();
            const auto view = run.values(static_cast<trace::TapIndex>(t), r, r + 1);
            if (!view || std::memcmp(view->row(r), block.values[t].data() + at * bytes, bytes) != 0)
                return false;
        }
    }
    return true;
}

} // namespace

class InterruptedTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void survivesKill_data();
    void survivesKill();
    void saysThatTheDiskIsFull_data();
    void saysThatTheDiskIsFull();
    void saysThatTheFolderIsReadOnly();
    void saysThatThereIsNoFolder();
    void saysThatTheFolderHasGone();
    void refusesImpossibleHeaders();

private:
    /// A file system of its own at `folder`, or false where that is not allowed.
    static bool mountTmpfs(const QString& folder, const char* options, unsigned long flags = 0)
    {
        return QDir().mkpath(folder)
               && ::mount("tmpfs", folder.toLocal8Bit().constData(), "tmpfs", flags, options) == 0;
    }
};

void InterruptedTest::survivesKill_data()
{
    QTest::addColumn<int>("milliseconds");
    QTest::addColumn<int>("expected");
    for (int i = 0; i < 20; ++i)
        QTest::addRow("after %d ms", 3 * i * i) << 3 * i * i << (i % 3) * 50;
}

void InterruptedTest::survivesKill()
{
    QFETCH(int, milliseconds);
    QFETCH(int, expected);
    QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("run.moire").toStdString();
    const auto header = test::sampleHeader(trace::Level::Full);
    const pid_t child = ::fork();
    if (child == 0) {
        WriterOptions options;
        options.expectedRows = static_cast<std::uint64_t>(expected);
        options.flushInterval = std::chrono::milliseconds(1);
        options.flushBytes = 30000;
        auto writer = Writer::create(path, header, options);
        ::_exit(writer && appendBlocks(**writer, header, 1000000) ? 0 : 1);
    }
    // The moment counts from the first committed row on.
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < 60000) {
        const auto run = MappedRun::open(partialPathOf(path));
        if (run && (*run)->rowCount() > 0) {
            QVERIFY((*run)->beingWritten());
            QVERIFY(rowsAreRight(**run));
            break;
        }
        QTest::qSleep(1);
    }
    QTest::qSleep(milliseconds);
    QCOMPARE(::kill(child, SIGKILL), 0);
    int status = 0;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QVERIFY(WIFSIGNALED(status));

    const auto run = MappedRun::open(partialPathOf(path));
    QVERIFY2(run, run ? "" : run.error().text().c_str());
    QVERIFY(!(*run)->complete());
    QVERIFY(!(*run)->beingWritten());
    QVERIFY((*run)->rowCount() > 0);
    QVERIFY(rowsAreRight(**run));
    base::Progress progress;
    const auto findings = verify(partialPathOf(path), {}, progress);
    QVERIFY(findings);
    // The run has no tokens for all its rows: that is found, and nothing else.
    for (const Finding& finding : *findings)
        QCOMPARE(finding.sentence, std::string("has a position without a token"));
}

void InterruptedTest::saysThatTheDiskIsFull_data()
{
    QTest::addColumn<QByteArray>("size");
    for (const char* size : {"16k", "64k", "128k", "192k", "256k", "512k", "1m", "3m"})
        QTest::newRow(size) << QByteArray(size);
}

void InterruptedTest::saysThatTheDiskIsFull()
{
    QFETCH(QByteArray, size);
    QTemporaryDir folder;
    const QString disk = folder.filePath("disk");
    if (!mountTmpfs(disk, ("size=" + size).constData()))
        QSKIP("mounting a small file system takes root");
    const std::filesystem::path path = (disk + "/run.moire").toStdString();
    const auto header = test::sampleHeader(trace::Level::Full);
    {
        WriterOptions options;
        options.flushBytes = 30000;
        auto writer = Writer::create(path, header, options);
        if (!writer) {
            QCOMPARE(writer.error().code, Errc::NoSpace);
        } else {
            const auto failed = appendBlocks(**writer, header, 100000);
            QVERIFY(!failed);
            QCOMPARE(failed.error().code, Errc::NoSpace);
            QVERIFY(!failed.error().hint.empty());
            QCOMPARE((*writer)->finish({}).error().code, Errc::NoSpace);
            const auto run = MappedRun::open(partialPathOf(path));
            QVERIFY2(run, run ? "" : run.error().text().c_str());
            QVERIFY(!(*run)->complete());
            QVERIFY(rowsAreRight(**run));
        }
        QVERIFY(!std::filesystem::exists(path));
    }
    QCOMPARE(::umount2(disk.toLocal8Bit().constData(), MNT_DETACH), 0);
}

void InterruptedTest::saysThatTheFolderIsReadOnly()
{
    QTemporaryDir folder;
    const QString disk = folder.filePath("disk");
    if (!mountTmpfs(disk, "size=1m", MS_RDONLY))
        QSKIP("mounting a read-only file system takes root");
    const auto writer =
        Writer::create((disk + "/run.moire").toStdString(), test::sampleHeader(trace::Level::Full));
    QCOMPARE(::umount2(disk.toLocal8Bit().constData(), MNT_DETACH), 0);
    QVERIFY(!writer);
    QCOMPARE(writer.error().code, Errc::Io);
    QVERIFY(QString::fromStdString(writer.error().text()).contains("read-only"));
}

void InterruptedTest::saysThatThereIsNoFolder()
{
    QTemporaryDir folder;
    const auto header = test::sampleHeader(trace::Level::Digest);
    const auto missing =
        Writer::create(folder.filePath("not/there/run.moire").toStdString(), header);
    QVERIFY(!missing);
    QCOMPARE(missing.error().code, Errc::NotFound);
    QVERIFY(!missing.error().hint.empty());
    const auto isFolder = Writer::create(folder.path().toStdString(), header);
    QVERIFY(!isFolder);
    QCOMPARE(isFolder.error().code, Errc::Invalid);
}

void InterruptedTest::saysThatTheFolderHasGone()
{
    QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkdir("gone"));
    const auto header = test::sampleHeader(trace::Level::Full);
    auto writer = Writer::create(folder.filePath("gone/run.moire").toStdString(), header);
    QVERIFY(writer);
    QVERIFY(test::record(**writer, header, 4));
    QVERIFY(QDir(folder.filePath("gone")).removeRecursively());
    const auto finished = (*writer)->finish({});
    QVERIFY(!finished);
    QCOMPARE(finished.error().code, Errc::NotFound);
}

void InterruptedTest::refusesImpossibleHeaders()
{
    QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("run.moire").toStdString();
    auto twice = test::sampleHeader(trace::Level::Full);
    twice.taps[1].name = twice.taps[0].name;
    auto slash = test::sampleHeader(trace::Level::Full);
    slash.taps[1].name = "a/b";
    auto narrow = test::sampleHeader(trace::Level::Full);
    narrow.taps[1].width = 0;
    auto input = test::sampleHeader(trace::Level::Full);
    input.taps[1].inputs = {trace::TapIndex{99}};
    auto router = test::sampleHeader(trace::Level::Full);
    router.routers[1].module = "";
    auto topK = test::sampleHeader(trace::Level::Full);
    topK.logits.topK = topK.logits.vocabulary + 1;
    for (const auto* header : {&twice, &slash, &narrow, &input, &router, &topK}) {
        const auto writer = Writer::create(path, *header);
        QVERIFY(!writer);
        QCOMPARE(writer.error().code, Errc::Invalid);
    }
    QVERIFY(QDir(folder.path()).isEmpty());
}

QTEST_APPLESS_MAIN(InterruptedTest)
#include "interrupted_test.moc"
