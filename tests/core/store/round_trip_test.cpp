// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/progress.h"
#include "core/store/mapped_run.h"
#include "core/store/verify.h"
#include "core/store/writer.h"
#include "tests/core/store/sample_run.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>

using namespace moire;
using namespace moire::store;

namespace {

bool sameBytes(const void* a, const void* b, std::size_t size)
{
    return size == 0 || std::memcmp(a, b, size) == 0;
}

template <class T>
bool sameSpan(std::span<const T> a, std::span<const T> b)
{
    return a.size() == b.size() && sameBytes(a.data(), b.data(), a.size_bytes());
}

/// "" when row r of both runs is the same in every table, else the table's name.
QString differenceAt(const trace::Run& a, const trace::Run& b, trace::RowIndex r)
{
    if (a.row(r) != b.row(r))
        return "rows";
    if (!sameSpan(a.digests(r), b.digests(r)))
        return "digests";
    if (!sameSpan(a.counts(r), b.counts(r)))
        return "counts";
    if (!sameSpan(a.statistics(r), b.statistics(r)))
        return "statistics";
    if (a.header().logits.vocabulary > 0) {
        const auto ta = a.topK(r), tb = b.topK(r);
        if (!ta || !tb || !sameSpan(ta->ids, tb->ids) || !sameSpan(ta->values, tb->values)
            || ta->logSumExp != tb->logSumExp || ta->remainingMass != tb->remainingMass
            || !sameSpan(ta->askedIds, tb->askedIds) || !sameSpan(ta->askedValues, tb->askedValues))
            return "top-K";
    }
    for (std::size_t j = 0; j < a.header().routers.size(); ++j) {
        const trace::RouterLayer& layer = a.header().routers[j];
        const auto ra = a.routing(j, r), rb = b.routing(j, r);
        if (!ra || !rb || !sameSpan(ra->ids, rb->ids)
            || !sameBytes(ra->weights, rb->weights,
                          layer.chosen * numeric::sizeOf(layer.weightType))
            || !sameBytes(ra->logits, rb->logits, layer.experts * numeric::sizeOf(layer.logitType))
            || (ra->scores == nullptr) != (rb->scores == nullptr)
            || (ra->scores != nullptr && !sameBytes(ra->scores, rb->scores, layer.experts * 4)))
            return "routing";
    }
    for (std::size_t t = 0; a.header().level == trace::Level::Full && t < a.header().taps.size();
         ++t) {
        const auto tap = static_cast<trace::TapIndex>(t);
        const auto va = a.values(tap, r, r + 1), vb = b.values(tap, r, r + 1);
        if (!va || !vb || va->dtype != vb->dtype || va->width != vb->width
            || !sameBytes(va->row(r), vb->row(r), a.header().taps[t].rowBytes()))
            return QString::fromStdString(a.header().taps[t].name);
    }
    return {};
}

void compareRuns(const trace::Run& a, const trace::Run& b)
{
    QVERIFY(a.header() == b.header());
    QCOMPARE(a.samples().size(), b.samples().size());
    for (std::size_t s = 0; s < a.samples().size(); ++s) {
        QVERIFY(a.samples()[s] == b.samples()[s]);
        const auto ta = a.tokens(static_cast<trace::SampleIndex>(s));
        const auto tb = b.tokens(static_cast<trace::SampleIndex>(s));
        QVERIFY(std::equal(ta.begin(), ta.end(), tb.begin(), tb.end()));
    }
    QVERIFY(std::equal(a.events().begin(), a.events().end(), b.events().begin(), b.events().end()));
    QCOMPARE(a.rowCount(), b.rowCount());
    for (trace::RowIndex r = 0; r < a.rowCount(); ++r)
        QCOMPARE(differenceAt(a, b, r), QString());
}

} // namespace

class RoundTripTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void keepsEverything_data();
    void keepsEverything();
    void keepsRunsWithout_data();
    void keepsRunsWithout();
    void showsWhatWasFlushed();
    void viewsSpanChunks();
    void isSmall();
    void replacesAnOlderFile();

private:
    std::filesystem::path file(const char* name) const
    {
        return m_folder.filePath(name).toStdString();
    }
    QTemporaryDir m_folder;
};

void RoundTripTest::keepsEverything_data()
{
    QTest::addColumn<int>("level");
    QTest::addColumn<int>("expected");
    QTest::addColumn<int>("rows");
    for (int level = 0; level < 3; ++level)
        for (const int expected : {0, 1, 60, 120, 5000})
            QTest::addRow("level %d, %d rows expected", level, expected) << level << expected << 40;
    QTest::addRow("no rows") << 2 << 0 << 0;
    QTest::addRow("many chunks") << 2 << 3 << 700;
}

void RoundTripTest::keepsEverything()
{
    QFETCH(int, level);
    QFETCH(int, expected);
    QFETCH(int, rows);
    const auto header = test::sampleHeader(static_cast<trace::Level>(level));
    trace::RunBuilder builder(header, "memory");
    QVERIFY(test::record(builder, header, static_cast<std::uint32_t>(rows)));
    QVERIFY(builder.finish(test::closingFields()));

    const auto path = file("run.moire");
    WriterOptions options;
    options.expectedRows = static_cast<std::uint64_t>(expected);
    options.flushBytes = 20000;
    auto writer = Writer::create(path, header, options);
    QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
    QVERIFY(test::record(**writer, header, static_cast<std::uint32_t>(rows)));
    QVERIFY(std::filesystem::exists(partialPathOf(path)));
    const auto finished = (*writer)->finish(test::closingFields());
    QVERIFY2(finished, finished ? "" : finished.error().text().c_str());
    QVERIFY(!std::filesystem::exists(partialPathOf(path)));

    const auto run = MappedRun::open(path);
    QVERIFY2(run, run ? "" : run.error().text().c_str());
    QVERIFY((*run)->complete());
    QCOMPARE((*run)->missingRows(), std::optional<std::uint64_t>(0));
    compareRuns(*builder.snapshot(), **run);
    base::Progress progress;
    const auto findings = verify(path, {}, progress);
    QVERIFY2(findings, findings ? "" : findings.error().text().c_str());
    QVERIFY2(findings->empty(), findings->empty() ? "" : findings->front().sentence.c_str());
    QCOMPARE(progress.done.load(), (*run)->rowCount());
}

void RoundTripTest::keepsRunsWithout_data()
{
    QTest::addColumn<QString>("what");
    for (const char* what : {"taps", "logits", "routers", "asked", "samples"})
        QTest::addRow("%s", what) << what;
}

void RoundTripTest::keepsRunsWithout()
{
    QFETCH(QString, what);
    auto header = test::sampleHeader(trace::Level::Full);
    if (what == "taps")
        header.taps.clear();
    else if (what == "logits")
        header.logits = {};
    else if (what == "routers")
        header.routers.clear();
    else if (what == "asked")
        header.logits.asked = 0;
    trace::RunBuilder builder(header, "memory");
    auto writer = Writer::create(file("less.moire"), header);
    QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
    if (what != "samples") {
        QVERIFY(test::record(builder, header, 5));
        QVERIFY(test::record(**writer, header, 5));
    }
    QVERIFY((*writer)->finish({}));
    QVERIFY(builder.finish({}));
    const auto run = MappedRun::open(file("less.moire"));
    QVERIFY2(run, run ? "" : run.error().text().c_str());
    compareRuns(*builder.snapshot(), **run);
}

void RoundTripTest::showsWhatWasFlushed()
{
    const auto header = test::sampleHeader(trace::Level::Full);
    const auto path = file("growing.moire");
    WriterOptions options;
    options.expectedRows = 100;
    options.expectedRowsExact = true;
    options.flushInterval = std::chrono::hours(1);
    auto writer = Writer::create(path, header, options);
    QVERIFY(writer);
    trace::RunBuilder builder(header, "memory");
    QVERIFY(test::record(**writer, header, 10));
    const auto before = MappedRun::open((*writer)->partialPath());
    QVERIFY2(before, before ? "" : before.error().text().c_str());
    QCOMPARE((*before)->rowCount(), 0U);
    QVERIFY((*before)->beingWritten());
    QVERIFY((*writer)->flush());
    const auto during = MappedRun::open((*writer)->partialPath());
    QVERIFY(during);
    QVERIFY(!(*during)->complete());
    QCOMPARE((*during)->rowCount(), 30U);
    QCOMPARE((*during)->missingRows(), std::optional<std::uint64_t>(70));
    QVERIFY((*during)->generation() > (*before)->generation());
    QVERIFY(test::record(builder, header, 10));
    compareRuns(*builder.snapshot(), **during);
    base::Progress progress;
    QVERIFY(verify((*writer)->partialPath(), {}, progress)->empty());

    const auto second = Writer::create(path, header);
    QVERIFY(!second);
    QCOMPARE(second.error().code, Errc::Invalid);

    writer->reset();
    const auto after = MappedRun::open(partialPathOf(path));
    QVERIFY(after);
    QVERIFY(!(*after)->beingWritten());
    QVERIFY(!(*after)->complete());
    compareRuns(*builder.snapshot(), **during);
    // The older partial file is kept when the same name is recorded again.
    QVERIFY(Writer::create(path, header));
    QVERIFY(std::filesystem::exists(partialPathOf(path).string() + ".old"));
}

void RoundTripTest::viewsSpanChunks()
{
    const auto header = test::sampleHeader(trace::Level::Full);
    auto writer = Writer::create(file("chunks.moire"), header, {7, false});
    QVERIFY(writer);
    QVERIFY(test::record(**writer, header, 10));
    QVERIFY((*writer)->finish({}));
    const auto run = MappedRun::open(file("chunks.moire"));
    QVERIFY(run);
    std::vector<std::pair<trace::RowIndex, trace::RowIndex>> seen;
    for (trace::RowIndex r = 0; r < 30;) {
        const auto view = (*run)->values(trace::TapIndex{2}, r, 30);
        QVERIFY(view);
        seen.emplace_back(view->rowBegin, view->rowEnd);
        r = view->rowEnd;
    }
    const std::vector<std::pair<trace::RowIndex, trace::RowIndex>> expected{
        {0, 7}, {7, 14}, {14, 21}, {21, 28}, {28, 30}};
    QCOMPARE(seen, expected);
    QVERIFY(!(*run)->values(trace::TapIndex{2}, 5, 31));
    QVERIFY(!(*run)->values(trace::TapIndex{99}, 0, 1));
}

void RoundTripTest::isSmall()
{
    // 60 rows × 14 taps: what HDF5 needs for the datasets, no chunks of unused rows.
    const auto header = test::sampleHeader(trace::Level::Full);
    auto writer = Writer::create(file("small.moire"), header, {30, true});
    QVERIFY(writer);
    QVERIFY(test::record(**writer, header, 10));
    QVERIFY((*writer)->finish({}));
    const qint64 size = QFileInfo(m_folder.filePath("small.moire")).size();
    QVERIFY2(size < 200 * 1024, qPrintable(QString::number(size)));
}

void RoundTripTest::replacesAnOlderFile()
{
    const auto header = test::sampleHeader(trace::Level::Digest);
    for (const std::uint32_t rows : {3U, 2U}) {
        auto writer = Writer::create(file("again.moire"), header);
        QVERIFY(writer);
        QVERIFY(test::record(**writer, header, rows));
        if (rows == 2)
            QCOMPARE((*MappedRun::open(file("again.moire")))->rowCount(), 9U);
        QVERIFY((*writer)->finish({}));
    }
    QCOMPARE((*MappedRun::open(file("again.moire")))->rowCount(), 6U);
    QCOMPARE(QDir(m_folder.path()).entryList({"again*"}).size(), 1);
}

QTEST_APPLESS_MAIN(RoundTripTest)
#include "round_trip_test.moc"
