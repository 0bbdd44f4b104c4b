// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Captures whose digests all hold and whose tables contradict the values: only verify() can tell.

#include "core/store/verify.h"
#include "core/store/writer.h"
#include "core/trace/row_block.h"

#include <QtTest>

#include <cmath>
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

    /// Two rows of a router of four experts with the logits 1, 4, 2, 3, of which it chooses two.
    static QStringList routerFindings(const std::function<void(trace::RoutingBlock&)>& change,
                                      bool scores = false, unsigned threads = 1)
    {
        trace::RunHeader moe = header();
        moe.routers = {{"model.layers.0.mlp.gate", 0, 4, 2, numeric::DType::FP32,
                        numeric::DType::FP32, scores}};
        trace::Tap gate = moe.taps[0];
        gate.name = "model.layers.0.mlp.gate.out";
        gate.kind = trace::TapKind::Router;
        moe.taps.insert(moe.taps.begin(), gate);
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("run.moire").toStdString();
        auto writer = store::Writer::create(path, moe);
        trace::Sample sample;
        sample.id = "one";
        const auto index = (*writer)->beginSample(sample, {{0, false, 0, "a"}, {3, false, 1, "b"}});
        bool written = true;
        for (std::uint32_t position = 0; position < 2; ++position) {
            trace::RowBlock block;
            block.rows.resize(1);
            block.rows[0].position = position;
            const auto bytes = [](std::initializer_list<float> numbers) {
                std::vector<std::byte> out(numbers.size() * sizeof(float));
                std::memcpy(out.data(), numbers.begin(), out.size());
                return out;
            };
            block.values = {bytes({1, 4, 2, 3}), bytes({1, 4, 2, 3})};
            block.rows[0].score =
                trace::appendTopK(moe.logits, block.values[1].data(), -1, block.topK);
            const float best = 1 / (1 + std::exp(-1.0F)); // of 4 against 3
            block.routing = {{{1, 3}, bytes({best, 1 - best}), bytes({1, 4, 2, 3}), {}}};
            if (scores)
                block.routing[0].scores = {1, 4, 2, 3};
            trace::summariseBlock(moe, block);
            if (position == 1)
                change(block.routing[0]);
            written = written && (*writer)->append(std::move(block));
        }
        written = written && (*writer)->endSample(*index, "", "") && (*writer)->finish({});
        base::Progress progress;
        const auto findings = store::verify(path, {}, progress, {100, threads});
        if (!written || !findings)
            return {"not written"};
        QStringList lines;
        for (const store::Finding& finding : *findings)
            lines << QString::fromStdString(finding.place + ": " + finding.sentence);
        return lines;
    }

    void expertsAgainstTheLogits()
    {
        const QString place = "/routing/model.layers.0.mlp.gate, row 1: ";
        const auto put = [](std::vector<std::byte>& bytes, std::size_t at, float number) {
            std::memcpy(bytes.data() + at * sizeof number, &number, sizeof number);
        };
        QCOMPARE(routerFindings([](trace::RoutingBlock&) {}), QStringList());
        const auto swapped = [](trace::RoutingBlock& routing) { routing.ids = {1, 0}; };
        const QStringList left{place + "an expert with a larger logit was left out",
                               place + "the weights do not follow from the logits"};
        QCOMPARE(routerFindings(swapped), left);
        QCOMPARE(routerFindings(swapped, false, 7), left);
        QCOMPARE(routerFindings(swapped, true), QStringList()); // scores may choose otherwise
        QCOMPARE(routerFindings([](trace::RoutingBlock& routing) {
                     routing.ids = {1, 1};
                 })[0],
                 place + "an expert is chosen twice");
        QCOMPARE(routerFindings([](trace::RoutingBlock& routing) {
                     routing.ids = {-1, 1};
                 })[0],
                 place + "an expert stands behind the padding");
        QCOMPARE(
            routerFindings([&](trace::RoutingBlock& routing) { put(routing.weights, 0, 0.5F); }),
            QStringList{place + "the weights do not follow from the logits"});
        QCOMPARE(
            routerFindings([&](trace::RoutingBlock& routing) { put(routing.logits, 0, 1.5F); }),
            QStringList{place + "the logits are not the values of model.layers.0.mlp.gate.out"});
        // Sigmoids, weights that are not normalised, and what rounding makes are no fault.
        QCOMPARE(routerFindings([&](trace::RoutingBlock& routing) {
                     put(routing.weights, 0, 1 / (1 + std::exp(-4.0F)));
                     put(routing.weights, 1, 1 / (1 + std::exp(-3.0F)));
                 }),
                 QStringList());
        QCOMPARE(routerFindings([&](trace::RoutingBlock& routing) {
                     put(routing.weights, 0, 0.6439F); // softmax over all four
                     put(routing.weights, 1, 0.2369F);
                 }),
                 QStringList());
    }

    void countsAgainstTheValues()
    {
        QVERIFY(!findingsOf([](trace::RowBlock& block) { block.counts[0] = {3, 1, 0}; }).isEmpty());
    }
};

QTEST_APPLESS_MAIN(ConsistencyTest)
#include "consistency_test.moc"
