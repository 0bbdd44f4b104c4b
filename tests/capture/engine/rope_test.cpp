// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/rope.h"

#include <QTest>

#include <cmath>

using namespace moire;
using namespace moire::capture;

/// Expected values by hand from the formulas; powers of ten and two keep them short.
class RopeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void plain();
    void linear();
    void llama3KeepsBlendsAndSlows();
    void unsupported();
};

namespace {

bool near(const std::vector<float>& values, const std::vector<double>& wanted)
{
    bool all = values.size() == wanted.size();
    for (std::size_t i = 0; all && i < wanted.size(); ++i)
        all = std::abs(values[i] - wanted[i]) <= 2e-7 * wanted[i];
    return all;
}

RopePlan rope(double theta, RopeScaling scaling)
{
    RopePlan plan;
    plan.theta = theta;
    plan.scaling = scaling;
    plan.factor = 8;
    return plan;
}

} // namespace

void RopeTest::plain()
{
    QVERIFY(near(*inverseFrequencies(rope(10000, RopeScaling::None), 8), {1, 0.1, 0.01, 0.001}));
}

void RopeTest::linear()
{
    QVERIFY(near(*inverseFrequencies(rope(10000, RopeScaling::Linear), 4), {0.125, 0.00125}));
}

/// Waves of 6.28, 62.8 and 628 positions against a context of 256 with factors 1 and 4: shorter
/// than 64 is kept; longer than 256 goes to an eighth.
void RopeTest::llama3KeepsBlendsAndSlows()
{
    RopePlan plan = rope(1000, RopeScaling::Llama3);
    plan.originalContext = 256;
    QVERIFY(near(*inverseFrequencies(plan, 6), {1, 0.1, 0.01 / 8}));
    // With a context of 128 the second wave lies between 32 and 128: s = (128/62.83 − 1)/3.
    plan.originalContext = 128;
    const double s = (128 * 0.1 / (2 * M_PI) - 1) / 3;
    const auto blended = *inverseFrequencies(plan, 6);
    QVERIFY(std::abs(blended[1] - ((1 - s) * 0.1 / 8 + s * 0.1)) < 1e-7);
}

void RopeTest::unsupported()
{
    for (const RopeScaling scaling : {RopeScaling::Dynamic, RopeScaling::Yarn}) {
        const auto result = inverseFrequencies(rope(10000, scaling), 8);
        QVERIFY(!result);
        QCOMPARE(result.error().code, Errc::Unsupported);
    }
}

QTEST_APPLESS_MAIN(RopeTest)
#include "rope_test.moc"
