// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/progress.h"
#include "core/store/mapped_run.h"
#include "core/store/schema.h"
#include "core/store/verify.h"
#include "core/store/writer.h"
#include "tests/core/store/sample_run.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace moire;
using namespace moire::store;

namespace {

/// Few taps, so that a file is short enough to be cut at every byte.
trace::RunHeader fewTaps()
{
    trace::RunHeader header = test::sampleHeader(trace::Level::Full);
    header.taps.resize(2);
    header.routers.resize(1);
    header.logits.asked = 0;
    return header;
}

bool sameValues(const trace::Run& a, const trace::Run& b, trace::RowIndex rows)
{
    for (trace::RowIndex r = 0; r < rows; ++r) {
        if (a.row(r) != b.row(r))
            return false;
        for (std::size_t t = 0; t < a.header().taps.size(); ++t) {
            const auto va = a.values(static_cast<trace::TapIndex>(t), r, r + 1);
            const auto vb = b.values(static_cast<trace::TapIndex>(t), r, r + 1);
            if (!va || !vb
                || std::memcmp(va->row(r), vb->row(r), a.header().taps[t].rowBytes()) != 0)
                return false;
        }
    }
    return true;
}

} // namespace

class BrokenFileTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void refusesWhatIsNoCapture_data();
    void refusesWhatIsNoCapture();
    void refusesMissingAndFolder();
    void refusesUnreadable();
    void namesAnotherVersion();
    void refusesATruncatedCompleteFile();
    void showsOnlySoundRowsOfATruncatedPart();
    void dropsRowsWhoseDigestsDoNotHold();
    void verifyFindsEveryFlippedByte();
    void saysSoWhenCutShortWhileOpen();

private:
    std::filesystem::path write(const char* name, const trace::RunHeader& header, bool finish)
    {
        const std::filesystem::path path = m_folder.filePath(name).toStdString();
        auto writer = Writer::create(path, header, {4, false});
        if (!writer || !test::record(**writer, header, 4) || !(*writer)->flush())
            return {};
        if (finish && !(*writer)->finish({}))
            return {};
        return finish ? path : partialPathOf(path);
    }
    QByteArray content(const std::filesystem::path& path)
    {
        QFile file(QString::fromStdString(path.string()));
        return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
    }
    std::filesystem::path save(const QByteArray& bytes)
    {
        QFile file(m_folder.filePath("broken.moire"));
        if (!file.open(QFile::WriteOnly) || file.write(bytes) != bytes.size())
            return {};
        return file.fileName().toStdString();
    }
    QTemporaryDir m_folder;
};

void BrokenFileTest::refusesWhatIsNoCapture_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("code");
    QTest::newRow("empty") << QByteArray() << int(Errc::Damaged);
    QTest::newRow("text") << QByteArray("hello, this is text\n") << int(Errc::Unsupported);
    QTest::newRow("zeros") << QByteArray(100000, '\0') << int(Errc::Unsupported);
    QTest::newRow("HDF5") << QByteArray("\x89HDF\r\n\x1a\n", 8).append(QByteArray(5000, '\0'))
                          << int(Errc::Unsupported);
    QTest::newRow("first bytes only") << QByteArray("\x89MOI", 4) << int(Errc::Damaged);
    QTest::newRow("magic only") << QByteArray("\x89MOIRE\r\n", 8) << int(Errc::Damaged);
}

void BrokenFileTest::refusesWhatIsNoCapture()
{
    QFETCH(QByteArray, bytes);
    QFETCH(int, code);
    const auto run = MappedRun::open(save(bytes));
    QVERIFY(!run);
    QCOMPARE(int(run.error().code), code);
    QVERIFY(!run.error().hint.empty());
    base::Progress progress;
    QVERIFY(!verify(save(bytes), {}, progress));
}

void BrokenFileTest::refusesMissingAndFolder()
{
    const auto missing = MappedRun::open(m_folder.filePath("none.moire").toStdString());
    QVERIFY(!missing);
    QCOMPARE(missing.error().code, Errc::NotFound);
    const auto folder = MappedRun::open(m_folder.path().toStdString());
    QVERIFY(!folder);
    QCOMPARE(folder.error().code, Errc::Invalid);
}

void BrokenFileTest::refusesUnreadable()
{
    if (::geteuid() != 0)
        QSKIP("only root can become another user");
    const auto path = write("secret.moire", fewTaps(), true);
    QVERIFY(QFile::setPermissions(QString::fromStdString(path.string()), QFile::ReadOwner));
    QVERIFY(QFile::setPermissions(m_folder.path(), QFile::Permissions(0x7755)));
    const pid_t child = ::fork();
    if (child == 0) {
        const bool other = ::setuid(65534) == 0;
        const auto run = MappedRun::open(path);
        ::_exit(other && !run && run.error().code == Errc::Io && !run.error().hint.empty() ? 0 : 1);
    }
    int status = -1;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QCOMPARE(status, 0);
}

void BrokenFileTest::namesAnotherVersion()
{
    QByteArray bytes = content(write("version.moire", fewTaps(), true));
    bytes[8] = 7;
    const auto run = MappedRun::open(save(bytes));
    QVERIFY(!run);
    QCOMPARE(run.error().code, Errc::Unsupported);
    QVERIFY(QString::fromStdString(run.error().text()).contains("format version 7"));
    QVERIFY(QString::fromStdString(run.error().text()).contains("version 1"));
}

void BrokenFileTest::refusesATruncatedCompleteFile()
{
    const QByteArray bytes = content(write("whole.moire", fewTaps(), true));
    const auto path = save(bytes);
    QVERIFY(MappedRun::open(path));
    for (qint64 size = bytes.size() - 1; size >= 0; --size) {
        std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size));
        const auto run = MappedRun::open(path);
        QVERIFY2(!run, qPrintable(QString("cut at %1").arg(size)));
        QVERIFY(run.error().code == Errc::Damaged
                || (size < 8 && run.error().code == Errc::Unsupported));
    }
}

void BrokenFileTest::showsOnlySoundRowsOfATruncatedPart()
{
    const auto part = write("part.moire", fewTaps(), false);
    const auto whole = MappedRun::open(part);
    QVERIFY(whole);
    QCOMPARE((*whole)->rowCount(), 12U);
    const QByteArray bytes = content(part);
    const auto path = save(bytes);
    qint64 shown = 0;
    for (qint64 size = bytes.size() - 1; size >= 0; --size) {
        std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size));
        const auto run = MappedRun::open(path);
        if (!run)
            continue;
        QVERIFY(!(*run)->complete());
        QVERIFY((*run)->rowCount() <= 12U);
        QVERIFY(sameValues(**whole, **run, (*run)->rowCount()));
        shown += (*run)->rowCount() > 0 && (*run)->rowCount() < 12 ? 1 : 0;
    }
    QVERIFY(shown > 0);
}

void BrokenFileTest::dropsRowsWhoseDigestsDoNotHold()
{
    const auto part = write("holes.moire", fewTaps(), false);
    const auto whole = MappedRun::open(part);
    QVERIFY(whole);
    QByteArray bytes = content(part);
    const auto view = (*whole)->values(trace::TapIndex{1}, 7, 8);
    QVERIFY(view);
    const QByteArray row(reinterpret_cast<const char*>(view->row(7)), 4);
    const auto place = bytes.indexOf(row);
    QVERIFY(place > 0);
    bytes[place] = static_cast<char>(bytes[place] ^ 1);
    const auto run = MappedRun::open(save(bytes));
    QVERIFY(run);
    QVERIFY((*run)->rowCount() <= 7U);
    QVERIFY(sameValues(**whole, **run, (*run)->rowCount()));
}

void BrokenFileTest::verifyFindsEveryFlippedByte()
{
    // Every byte that a reader uses is covered by a digest: a flip is found, or it changed nothing
    // that can be read.
    const auto original = write("flip.moire", fewTaps(), true);
    const auto whole = MappedRun::open(original);
    QVERIFY(whole);
    const QByteArray bytes = content(original);
    int found = 0;
    for (qint64 at = 0; at < bytes.size(); at += 11) {
        QByteArray changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        const auto path = save(changed);
        base::Progress progress;
        const auto findings = verify(path, {}, progress);
        const auto run = MappedRun::open(path);
        if (!findings || !findings->empty()) {
            ++found;
            continue;
        }
        QVERIFY2(run, qPrintable(QString("byte %1").arg(at)));
        QVERIFY2(sameValues(**whole, **run, 12), qPrintable(QString("byte %1").arg(at)));
        QVERIFY((*whole)->header() == (*run)->header());
    }
    QVERIFY(found > 150);
}

void BrokenFileTest::saysSoWhenCutShortWhileOpen()
{
    trace::RunHeader header = test::sampleHeader(trace::Level::Full);
    for (trace::Tap& tap : header.taps)
        tap.width = 5000;
    const auto path = write("shrinking.moire", header, true);
    const auto run = MappedRun::open(path);
    QVERIFY2(run, run ? "" : run.error().text().c_str());
    QVERIFY((*run)->stillSound());
    const auto view = (*run)->values(trace::TapIndex{0}, 11, 12);
    QVERIFY(view);
    std::filesystem::resize_file(path, 4096);
    // What is read behind the new end is zero, not SIGBUS, and the run says so.
    volatile std::uint64_t sum = 0; // the reads must happen
    for (trace::RowIndex r = 0; r < 12; ++r)
        for (const std::uint64_t digest : (*run)->digests(r))
            sum = sum + digest;
    for (std::size_t i = 0; i < 10000; ++i)
        sum = sum + static_cast<std::uint64_t>(view->data[i]);
    const auto after = (*run)->values(trace::TapIndex{0}, 0, 1);
    QVERIFY(!after);
    QCOMPARE(after.error().code, Errc::Damaged);
    QVERIFY(!(*run)->stillSound());
}

QTEST_APPLESS_MAIN(BrokenFileTest)
#include "broken_file_test.moc"
