// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/counter_random.h"

#include <QtTest>

#include <map>

using namespace moire::numeric;

class CounterRandomTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void knownAnswers();
    void streams();
    void below();
};

// The vectors for philox4x32-10 of Random123's kat_vectors.
void CounterRandomTest::knownAnswers()
{
    const auto zeros = philox({0, 0, 0, 0}, {0, 0});
    QVERIFY((zeros == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t ones = 0xffffffff;
    const auto full = philox({ones, ones, ones, ones}, {ones, ones});
    QVERIFY((full == PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    const auto pi =
        philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
    QVERIFY((pi == PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Seed and stream stand in the key and in the counter's upper half; numbers come block by block.
void CounterRandomTest::streams()
{
    CounterRandom random(0x299f31d0a4093822ULL, 0x0000000700000005ULL);
    for (std::uint32_t block = 0; block < 3; ++block)
        for (const std::uint32_t word : philox({block, 0, 5, 7}, {0xa4093822, 0x299f31d0}))
            QCOMPARE(random.next(), word);
}

void CounterRandomTest::below()
{
    CounterRandom random(1, 0);
    std::map<std::uint32_t, int> seen;
    constexpr int draws = 60'000;
    for (int i = 0; i < draws; ++i)
        ++seen[random.below(6)];
    QCOMPARE(seen.size(), std::size_t{6});
    for (const auto& [face, count] : seen)
        QVERIFY2(std::abs(count - draws / 6) < 400, qPrintable(QString::number(count))); // 4.4 σ
    QCOMPARE(random.below(1), 0U);
}

QTEST_APPLESS_MAIN(CounterRandomTest)
#include "counter_random_test.moc"
