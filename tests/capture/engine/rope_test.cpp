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
    void dynamicStretchesTheBaseBeyondTheContext();
    void yarnBlendsAlongARamp();
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
    QVERIFY(near(inverseFrequencies(rope(10000, RopeScaling::None), 8), {1, 0.1, 0.01, 0.001}));
}

void RopeTest::linear()
{
    QVERIFY(near(inverseFrequencies(rope(10000, RopeScaling::Linear), 4), {0.125, 0.00125}));
}

/// Waves of 6.28, 62.8 and 628 positions against a context of 256 with factors 1 and 4: shorter
/// than 64 is kept; longer than 256 goes to an eighth.
void RopeTest::llama3KeepsBlendsAndSlows()
{
    RopePlan plan = rope(1000, RopeScaling::Llama3);
    plan.originalContext = 256;
    QVERIFY(near(inverseFrequencies(plan, 6), {1, 0.1, 0.01 / 8}));
    // With a context of 128 the second wave lies between 32 and 128: s = (128/62.83 − 1)/3.
    plan.originalContext = 128;
    const double s = (128 * 0.1 / (2 * M_PI) - 1) / 3;
    const auto blended = inverseFrequencies(plan, 6);
    QVERIFY(std::abs(blended[1] - ((1 - s) * 0.1 / 8 + s * 0.1)) < 1e-7);
}

/// Twice the context of 32, factor 2: the base times (2·2 − 1)^(4/2) = 9.
void RopeTest::dynamicStretchesTheBaseBeyondTheContext()
{
    RopePlan plan = rope(100, RopeScaling::Dynamic);
    plan.factor = 2;
    plan.originalContext = 32;
    QVERIFY(near(inverseFrequencies(plan, 4, 32), {1, 0.1}));
    QVERIFY(near(inverseFrequencies(plan, 4, 64), {1, 1 / std::sqrt(900.0)}));
}

/// Pair d·ln(L/(2πn))/(2·ln base) of n rotations, d = 8, base 100: L = 2π·100 and n = 1 give pair
/// 4, n = 10 pair 2. Pairs 0 to 2 are kept, pair 3 lies halfway.
void RopeTest::yarnBlendsAlongARamp()
{
    RopePlan plan = rope(100, RopeScaling::Yarn);
    plan.factor = 4;
    plan.originalContext = 628; // 2π·100 is 628.3: a little above the pairs that truncation finds
    plan.betaFast = 10;
    plan.betaSlow = 1;
    plan.truncate = false;
    const auto pair = [](double n) {
        return 8 * std::log(628 / (n * 2 * M_PI)) / (2 * std::log(100));
    };
    const double ramp = (3 - pair(10)) / (pair(1) - pair(10));
    const double third = std::pow(100, -0.75);
    const double second = std::pow(100, -0.5);
    const double early = (2 - pair(10)) / (pair(1) - pair(10));
    QVERIFY(near(inverseFrequencies(plan, 8),
                 {1, std::pow(100, -0.25), second * (1 - early) + second / 4 * early,
                  third * (1 - ramp) + third / 4 * ramp}));
    plan.truncate = true; // pairs 1 and 4: 2 and 3 lie a third and two thirds along
    QVERIFY(near(inverseFrequencies(plan, 8),
                 {1, std::pow(100, -0.25), second * (2 + 0.25) / 3, third * (1 + 0.5) / 3}));
}

QTEST_APPLESS_MAIN(RopeTest)
#include "rope_test.moc"
