// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/widgets/made_comparison.h"
#include "widgets/models/element_model.h"
#include "widgets/models/environment_model.h"
#include "widgets/models/sample_model.h"

#include <QAbstractItemModelTester>
#include <QTest>

#include <cmath>

using namespace moire;
using namespace moire::widgets;

class ItemModelsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void samplesEmptyOneMany();
    void samplesReplacedAndSorted();
    void sampleSummaries();
    void elements();
    void environment();
};

void ItemModelsTest::samplesEmptyOneMany()
{
    SampleModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.rowCount(), 0);
    model.setCompared(test::madeComparison({}));
    QCOMPARE(model.rowCount(), 1);
    test::MadeModel many;
    many.samples = {{"a", 4, 4, {}, 0}, {"b", 4, 4, {}, 2}, {"c", 4, 4, 6, 0}};
    model.setCompared(test::madeComparison(many));
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.index(2).data().toString(), QStringLiteral("c"));
    model.setCompared(nullptr);
    QCOMPARE(model.rowCount(), 0);
}

void ItemModelsTest::samplesReplacedAndSorted()
{
    SampleModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    test::MadeModel made;
    made.layers = 1;
    made.samples = {{"late", 4, 8, {}, 9}, {"parts", 4, 8, 6, 0}, {"early", 4, 8, {}, 9}};
    model.setCompared(test::madeComparison(made));
    model.setOrder(SampleModel::Order::FirstDivergence);
    QCOMPARE(model.index(0).data().toString(), QStringLiteral("parts"));
    QCOMPARE(model.indexOfSample(1).row(), 0);
    QVERIFY(!model.indexOfSample(17).isValid());
    model.setOrder(SampleModel::Order::AsRecorded);
    QCOMPARE(model.index(0).data().toString(), QStringLiteral("late"));
}

void ItemModelsTest::sampleSummaries()
{
    test::MadeModel made;
    made.samples = {{"same", 4, 4, {}, 99}, {"parts", 4, 8, 6, 99}};
    SampleModel model;
    model.setCompared(test::madeComparison(made));
    QCOMPARE(model.index(0).data(SampleModel::SummaryRole).toString(),
             QStringLiteral("bitwise equal"));
    QCOMPARE(model.index(1).data(SampleModel::SummaryRole).toString(),
             QStringLiteral("texts part at token 6"));
}

void ItemModelsTest::elements()
{
    ElementModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.rowCount(), 0);
    // bf16 0x3f59 is 0.84765625 and its successor 0x3f5a is 0.8515625 (8 bits of precision).
    const diff::ElementPair up{211, 0x3f59, 0x3f5a, 0.84765625, 0.8515625, 0.00390625, 1};
    const diff::ElementPair down{402, 0xbfca, 0xbfc9, -1.578125, -1.5703125, 0.0078125, 1};
    const diff::ElementPair nan{3, 0x3f80, 0x7fc0, 1.0, std::nan(""), std::nan(""), std::nullopt};
    model.setElements({up, down, nan}, numeric::DType::BF16, numeric::DType::BF16);
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.index(0, ElementModel::Element).data().toString(), QStringLiteral("211"));
    QCOMPARE(model.index(0, ElementModel::Reference).data().toString(),
             QStringLiteral("0.84765625"));
    QCOMPARE(model.index(0, ElementModel::Ulps).data().toString(), QStringLiteral("+1"));
    QCOMPARE(model.index(1, ElementModel::Ulps).data().toString(), QStringLiteral("+1"));
    QCOMPARE(model.index(2, ElementModel::Ulps).data().toString(), QStringLiteral("–"));
    // 2^53 + 1 rounds to 2^53 as a double.
    constexpr std::uint64_t odd = (1ULL << 53U) + 1;
    const diff::ElementPair wide{0, odd, odd - 1, 0x1p53, 0x1p53, -1, 1};
    model.setElements({wide}, numeric::DType::I64, numeric::DType::I64);
    QCOMPARE(model.index(0, ElementModel::Reference).data().toString(),
             QStringLiteral("9007199254740993"));
    QCOMPARE(model.index(0, ElementModel::Target).data().toString(),
             QStringLiteral("9007199254740992"));
    QCOMPARE(model.index(0, ElementModel::Ulps).data().toString(), QStringLiteral("−1"));
    model.setElements({}, numeric::DType::BF16, numeric::DType::BF16);
    QCOMPARE(model.rowCount(), 0);
}

void ItemModelsTest::environment()
{
    EnvironmentModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    diff::Report report;
    report.reference.environment.set("numerics.arithmetic", std::string("ordered"));
    report.target.environment.set("numerics.arithmetic", std::string("native"));
    report.reference.environment.set("numerics.policy", std::string("bf16"));
    report.target.environment.set("numerics.policy", std::string("bf16"));
    report.reference.environment.set("run.start_time", std::string("2026-01-01"));
    report.target.environment.set("library.blas", std::string("one\nDNN"));
    model.setReport(report);
    QCOMPARE(model.rowCount(), 4);
    QVERIFY(model.index(0, 0).data(EnvironmentModel::DiffersRole).toBool());
    QVERIFY(!model.index(1, 0).data(EnvironmentModel::DiffersRole).toBool());
    // A start time always differs and says nothing.
    QVERIFY(!model.index(2, 0).data(EnvironmentModel::DiffersRole).toBool());
    QCOMPARE(model.index(2, EnvironmentModel::Target).data().toString(), QStringLiteral("–"));
    QCOMPARE(model.index(3, EnvironmentModel::Target).data().toString(),
             QStringLiteral("one\\nDNN"));
    model.setDifferencesOnly(true);
    QCOMPARE(model.rowCount(), 2);
}

QTEST_GUILESS_MAIN(ItemModelsTest)
#include "item_models_test.moc"
