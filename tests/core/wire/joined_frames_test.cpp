// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/joined_frames.h"
#include "core/wire/protocol.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <limits>

using namespace moire;
using namespace moire::wire;

namespace {

constexpr std::size_t kibi = 1024;

/// Frames of these sizes, each filled with its number.
std::vector<Frame> framesOf(const std::vector<std::size_t>& sizes)
{
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        frames.push_back(
            Frame::of(std::vector<std::byte>(sizes[i], static_cast<std::byte>(i + 1))));
    return frames;
}

std::vector<std::size_t> sizesOf(const std::vector<Frame>& frames)
{
    std::vector<std::size_t> sizes;
    for (const Frame& frame : frames)
        sizes.push_back(frame.size());
    return sizes;
}

} // namespace

class JoinedFramesTest : public QObject
{
    Q_OBJECT

private:
    JoinPool m_pool;

private Q_SLOTS:
    void comesApartAsItWas_data()
    {
        QTest::addColumn<std::vector<std::size_t>>("sizes");
        QTest::addColumn<std::vector<std::size_t>>("parts");
        using Sizes = std::vector<std::size_t>;
        QTest::newRow("none") << Sizes{} << Sizes{};
        QTest::newRow("one") << Sizes{5} << Sizes{5};
        QTest::newRow("small ones") << Sizes{4, 4, 4, 8} << Sizes{20};
        QTest::newRow("nothing in some") << Sizes{0, 4, 0, 0, 4, 0} << Sizes{8};
        QTest::newRow("nothing at all") << Sizes{0, 0} << Sizes{};
        QTest::newRow("large ones alone")
            << Sizes{4, 200 * kibi, 200 * kibi, 4, 4} << Sizes{4, 200 * kibi, 200 * kibi, 8};
        QTest::newRow("not too much at once")
            << Sizes(10, 100 * kibi) << Sizes{500 * kibi, 500 * kibi};
    }
    void comesApartAsItWas()
    {
        QFETCH(std::vector<std::size_t>, sizes);
        QFETCH(std::vector<std::size_t>, parts);
        const std::vector<Frame> frames = framesOf(sizes);
        const JoinedFrames joined = joinFrames(frames, m_pool);
        QCOMPARE(sizesOf(joined.parts), parts);
        const auto split = splitFrames(joined.sizes, joined.parts);
        QVERIFY(split);
        QCOMPARE(sizesOf(*split), sizes);
        for (std::size_t i = 0; i < frames.size(); ++i)
            QVERIFY(std::ranges::equal((*split)[i].bytes, frames[i].bytes));
    }

    void memoryIsUsedAgain()
    {
        const void* first = m_pool.lend(100 * kibi).get();
        const auto again = m_pool.lend(90 * kibi);
        QCOMPARE(static_cast<const void*>(again.get()), first);
        QVERIFY(m_pool.lend(100 * kibi).get() != first);
        std::shared_ptr<std::byte[]> longer;
        {
            JoinPool gone;
            longer = gone.lend(1);
        }
        longer[0] = std::byte{1};
    }

    void whatMakesNoSenseIsRefused_data()
    {
        QTest::addColumn<Fields>("sizes");
        QTest::newRow("no list") << Fields(7);
        QTest::newRow("no pair") << Fields{{1, 2, 3}};
        QTest::newRow("not a number") << Fields::array({Fields::array({"a", 8})});
        QTest::newRow("negative") << Fields{{1, -8}};
        QTest::newRow("more than there is") << Fields{{1, 9}};
        QTest::newRow("less than there is") << Fields{{1, 7}};
        QTest::newRow("across two") << Fields{{1, 6}, {1, 4}};
        QTest::newRow("beyond the last") << Fields{{2, 8}};
        QTest::newRow("too many") << Fields{{maxFrames + 1, 0}};
        QTest::newRow("enormous") << Fields{{1, std::numeric_limits<std::uint64_t>::max()}};
    }
    void whatMakesNoSenseIsRefused()
    {
        QFETCH(Fields, sizes);
        const auto split = splitFrames(sizes, framesOf({8}));
        QVERIFY(!split);
        QCOMPARE(split.error().code, Errc::Damaged);
    }
};

QTEST_APPLESS_MAIN(JoinedFramesTest)
#include "joined_frames_test.moc"
