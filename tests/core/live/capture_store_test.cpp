// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/same_run.h"
#include "core/live/capture_store.h"
#include "core/store/mapped_run.h"
#include "tests/core/live/script.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>

using namespace moire;
using live::CaptureStore;
using live::CaptureStoreOptions;
using live::test::Script;
namespace fs = std::filesystem;

namespace {

Script moeScript()
{
    moire::test::MadeModel model;
    model.experts = 8;
    model.startTime = "2026-01-01T00:00:00Z";
    return Script(model, live::test::twoSamples(), 7);
}

template <class T>
bool sameItems(std::span<const T> a, std::span<const T> b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool sameBytes(const trace::ValueView& a, const trace::ValueView& b, trace::RowIndex row,
               std::size_t bytes)
{
    return std::memcmp(a.row(row), b.row(row), bytes) == 0;
}

/// The first `rows` rows, in every table.
bool sameRows(const trace::Run& a, const trace::Run& b, trace::RowIndex rows)
{
    for (trace::RowIndex r = 0; r < rows; ++r) {
        if (a.row(r) != b.row(r) || !sameItems(a.digests(r), b.digests(r))
            || !sameItems(a.counts(r), b.counts(r)))
            return false;
        for (std::size_t t = 0; t < a.header().taps.size(); ++t) {
            const auto tap = static_cast<trace::TapIndex>(t);
            const auto ours = a.values(tap, r, rows);
            const auto theirs = b.values(tap, r, rows);
            if (!ours || !theirs || ours->rowBegin != r
                || !sameBytes(*ours, *theirs, r, a.header().taps[t].rowBytes()))
                return false;
        }
        const auto ours = a.topK(r);
        const auto theirs = b.topK(r);
        if (!ours || !theirs || !sameItems(ours->ids, theirs->ids)
            || ours->logSumExp != theirs->logSumExp)
            return false;
        for (std::size_t router = 0; router < a.header().routers.size(); ++router) {
            const auto one = a.routing(router, r);
            const auto other = b.routing(router, r);
            if (!one || !other || !sameItems(one->ids, other->ids))
                return false;
        }
    }
    return true;
}

bool sameText(const trace::Run& a, const trace::Run& b)
{
    if (!sameItems(a.samples(), b.samples()) || !sameItems(a.events(), b.events()))
        return false;
    for (std::size_t s = 0; s < a.samples().size(); ++s) {
        const auto sample = static_cast<trace::SampleIndex>(s);
        if (!sameItems(a.tokens(sample), b.tokens(sample)))
            return false;
    }
    return true;
}

} // namespace

class CaptureStoreTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    fs::path at(const char* name) const { return fs::path(m_folder.path().toStdString()) / name; }
    std::unique_ptr<CaptureStore> make(const Script& script, const CaptureStoreOptions& options)
    {
        auto store = CaptureStore::create(script.header(), {17, true}, options);
        if (!store)
            qFatal("%s", store.error().text().c_str());
        return *std::move(store);
    }

private Q_SLOTS:
    void snapshotsShowWhatHasCome_data()
    {
        QTest::addColumn<qulonglong>("held");
        QTest::newRow("all rows in memory") << (qulonglong{1} << 30U);
        QTest::newRow("some rows in the file") << qulonglong{6000};
        QTest::newRow("every row in the file") << qulonglong{1};
    }
    void snapshotsShowWhatHasCome()
    {
        QFETCH(qulonglong, held);
        const Script script = moeScript();
        CaptureStoreOptions options;
        options.folder = m_folder.path().toStdString();
        options.source = "somewhere";
        options.heldBytes = held;
        const auto store = make(script, options);
        trace::RunBuilder builder(script.header(), "somewhere");
        std::vector<std::pair<trace::RunPointer, trace::RunPointer>> earlier;
        for (std::size_t i = 0; i < script.size(); ++i) {
            script.play(*store, i, i + 1);
            script.play(builder, i, i + 1);
            const auto shown = store->snapshot();
            QVERIFY(shown);
            QVERIFY(!(*shown)->complete());
            earlier.emplace_back(*shown, builder.snapshot());
            QCOMPARE((*shown)->missingRows(),
                     std::optional<std::uint64_t>(17 - (*shown)->rowCount()));
        }
        std::uint64_t generation = 0;
        for (const auto& [shown, expected] : earlier) { // also those that were taken long ago
            QVERIFY(shown->generation() > generation);
            generation = shown->generation();
            QCOMPARE(shown->rowCount(), expected->rowCount());
            QVERIFY(sameText(*shown, *expected));
            QVERIFY(sameRows(*shown, *expected, expected->rowCount()));
        }
        QVERIFY(store->finish(Script::closing()));
        const auto whole = store->snapshot();
        QVERIFY(whole && (*whole)->complete());
        QCOMPARE((*whole)->source(), std::string("somewhere"));
        QCOMPARE((*whole)->header().environment.text(trace::env::endTime),
                 std::string("2026-01-01T00:00:00Z"));
        const auto expected = script.run("somewhere");
        QVERIFY(diff::holdSameRun(**whole, *expected));
        QVERIFY(sameRows(**whole, *expected, 15));
    }

    void nothingNewIsTheSameSnapshot()
    {
        const Script script = moeScript();
        const auto store = make(script, {{}, m_folder.path().toStdString(), "x", 1});
        script.play(*store, 0, 5);
        const auto first = store->snapshot();
        const auto second = store->snapshot();
        QVERIFY(first && second && *first == *second);
        script.play(*store, 5, 6);
        QVERIFY(*store->snapshot() != *first);
    }

    void aTemporaryCaptureGoesWithItsStore()
    {
        const Script script = moeScript();
        auto store = make(script, {{}, m_folder.path().toStdString(), "x", 1});
        script.play(*store, 0, 8);
        const fs::path path = store->path();
        QVERIFY(fs::exists(path));
        QCOMPARE(fs::status(path.parent_path()).permissions(), fs::perms::owner_all);
        const auto shown = store->snapshot();
        const trace::RowIndex rows = (*shown)->rowCount();
        store.reset();
        QVERIFY(!fs::exists(path.parent_path()));
        const auto expected = script.run("x"); // what was shown stays readable
        QVERIFY(sameRows(**shown, *expected, rows));
    }

    void aNamedCaptureStays()
    {
        const Script script = moeScript();
        {
            const auto store = make(script, {at("kept.moire"), {}, "x", 1U << 20U});
            script.playAll(*store);
        }
        const auto kept = store::MappedRun::open(at("kept.moire"));
        QVERIFY(kept && (*kept)->complete());
        QVERIFY(diff::holdSameRun(**kept, *script.run("x")));
    }

    void anUnfinishedRunIsSavedAsAnIncompleteCapture()
    {
        const Script script = moeScript();
        const auto store = make(script, {{}, m_folder.path().toStdString(), "x", 1U << 20U});
        script.play(*store, 0, 12);
        const trace::RowIndex rows = (*store->snapshot())->rowCount();
        QVERIFY(store->saveAs(at("early.moire")));
        const auto early = store::MappedRun::open(at("early.moire"));
        QVERIFY(early);
        QVERIFY(!(*early)->complete());
        QCOMPARE((*early)->rowCount(), rows);
        script.play(*store, 12, script.size()); // and goes on
        QVERIFY(store->finish(Script::closing()));
        QVERIFY(store->saveAs(at("early.moire")));
        const auto whole = store::MappedRun::open(at("early.moire"));
        QVERIFY(whole && (*whole)->complete());
        QVERIFY(diff::holdSameRun(**whole, *script.run("x")));
    }

    void savingKeepsFilesThatAreNoCaptures()
    {
        const Script script = moeScript();
        const auto store = make(script, {at("own.moire"), {}, "x", 1U << 20U});
        script.play(*store, 0, 12);
        QFile other(QString::fromStdString(at("notes.txt").string()));
        QVERIFY(other.open(QIODevice::WriteOnly));
        other.write("do not lose this");
        other.close();
        const auto refused = store->saveAs(at("notes.txt"));
        QVERIFY(!refused && refused.error().code == Errc::Invalid);
        QVERIFY(!store->saveAs(at("own.moire")));
        QVERIFY(!store->saveAs(store->path()));
        const auto nowhere = store->saveAs(at("no folder") / "x.moire");
        QVERIFY(!nowhere && nowhere.error().code == Errc::NotFound);
    }

    void aFolderThatIsNotThereIsAnError()
    {
        const Script script = moeScript();
        CaptureStoreOptions options;
        options.file = at("none") / "x.moire";
        const auto named = CaptureStore::create(script.header(), {}, options);
        QVERIFY(!named && named.error().code == Errc::NotFound);
        options.file.clear();
        options.folder = at("none");
        const auto hidden = CaptureStore::create(script.header(), {}, options);
        QVERIFY(!hidden);
    }

    void callsThatMakeNoSenseAreErrors()
    {
        const Script script = moeScript();
        const auto store = make(script, {{}, m_folder.path().toStdString(), "x", 1U << 20U});
        QVERIFY(!store->addTokens(trace::SampleIndex{3}, {{}}));
        QVERIFY(!store->endSample(trace::SampleIndex{3}, "end", {}));
        script.playAll(*store);
        QVERIFY(!store->addEvent({0, "warning", "late"}));
    }
};

QTEST_APPLESS_MAIN(CaptureStoreTest)
#include "capture_store_test.moc"
