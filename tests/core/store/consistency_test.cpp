// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Captures whose digests all hold and whose tables contradict the values: only verify() can tell.

#include "core/store/verify.h"
#include "core/store/writer.h"
#include "core/trace/row_block.h"

#include <QtTest>

#include <cstring>
#include <functional>

using namespace moire;

class ConsistencyTest : public QObject
{
    Q_OBJECT

    static trace::RunHeader header()
    {
        trace::RunHeader header;
        trace::Tap head;
        head.name = std::string(trace::headTapName);
        head.kind = trace::TapKind::Head;
        head.dtype = numeric::DType::FP32;
        head.width = 4;
        header.taps = {head};
        header.logits = {4, 2, numeric::DType::FP32, 0};
        return header;
    }

    /// One row with the logits 1, 4, 2, 3 and the token 3 after it, its tables changed by `change`.
    static QStringList findingsOf(const std::function<void(trace::RowBlock&)>& change)
    {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("run.moire").toStdString();
        auto writer = store::Writer::create(path, header());
        trace::Sample sample;
        sample.id = "one";
        const std::vector<trace::Token> tokens{{0, false, 0, "a"}, {3, false, 1, "b"}};
        const auto index = (*writer)->beginSample(sample, tokens);
        trace::RowBlock block;
        block.rows.resize(1);
        const float logits[] = {1, 4, 2, 3};
        block.values.emplace_back(sizeof logits);
        std::memcpy(block.values[0].data(), logits, sizeof logits);
        block.rows[0].score =
            trace::appendTopK(header().logits, block.values[0].data(), 3, block.topK);
        trace::summariseBlock(header(), block);
        change(block);
        const bool written = (*writer)->append(std::move(block))
                             && (*writer)->endSample(*index, "", "") && (*writer)->finish({});
        base::Progress progress;
        const auto findings = store::verify(path, {}, progress);
        if (!written || !findings)
            return {"not written"};
        QStringList lines;
        for (const store::Finding& finding : *findings)
            lines << QString::fromStdString(finding.place + ": " + finding.sentence);
        return lines;
    }

private Q_SLOTS:
    void soundOnesAreSound()
    {
        QCOMPARE(findingsOf([](trace::RowBlock&) {}), QStringList());
    }

    void rankingAgainstTheLogits()
    {
        const QStringList wrong{"/top_k, row 0: the logits give another ranking"};
        QCOMPARE(findingsOf([](trace::RowBlock& block) { block.topK.ids = {1, 2}; }), wrong);
        QCOMPARE(findingsOf([](trace::RowBlock& block) { block.topK.values[1] = 2.5F; }), wrong);
    }

    void rankOfTheToken()
    {
        QCOMPARE(findingsOf([](trace::RowBlock& block) { block.rows[0].score.rank = 0; }),
                 QStringList{"/rows, row 0: the logits give the token another rank"});
    }

    void statisticsAgainstTheValues()
    {
        QCOMPARE(
            findingsOf([](trace::RowBlock& block) { block.statistics[0].mean = 2; }),
            QStringList{"/statistics, row 0: the values of lm_head.out give another mean or L2"});
        QCOMPARE(
            findingsOf([](trace::RowBlock& block) { block.statistics[0].l2 *= 1.01F; }),
            QStringList{"/statistics, row 0: the values of lm_head.out give another mean or L2"});
        // Another order of the sum is no fault.
        QCOMPARE(findingsOf([](trace::RowBlock& block) { block.statistics[0].l2 *= 1.000001F; }),
                 QStringList());
    }

    void countsAgainstTheValues()
    {
        QVERIFY(!findingsOf([](trace::RowBlock& block) { block.counts[0] = {3, 1, 0}; }).isEmpty());
    }
};

QTEST_APPLESS_MAIN(ConsistencyTest)
#include "consistency_test.moc"
