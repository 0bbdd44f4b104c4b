// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/jobs/latest_job.h"

#include <QObject>
#include <QTest>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

using moire::Errc;
using moire::Result;
using moire::widgets::LatestJob;

namespace {

/// Works until it is stopped or was let go.
Result<int> waitFor(std::stop_token stop, const std::atomic<bool>& go, int value)
{
    while (!go && !stop.stop_requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return value;
}

} // namespace

class LatestJobTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void deliversInTheOwnersThread();
    void newestWins();
    void cancelledIsNotDelivered();
    void exceptionBecomesAnError();
    void destroyedWhileRunning();
};

void LatestJobTest::deliversInTheOwnersThread()
{
    QObject owner;
    auto job = std::make_unique<LatestJob>(&owner);
    QThread* worker = nullptr;
    QThread* receiver = nullptr;
    job->start(
        [&worker](std::stop_token) -> Result<int> {
            worker = QThread::currentThread();
            return 7;
        },
        [&receiver](Result<int> value) {
            QVERIFY(value);
            QCOMPARE(*value, 7);
            receiver = QThread::currentThread();
        });
    QVERIFY(job->isPending());
    QTRY_VERIFY(receiver != nullptr);
    QVERIFY(!job->isPending());
    QCOMPARE(receiver, QThread::currentThread());
    QVERIFY(worker != receiver);
}

void LatestJobTest::newestWins()
{
    QObject owner;
    LatestJob job(&owner);
    std::atomic<bool> go{false};
    int calls = 0;
    int last = 0;
    for (int i = 1; i <= 6; ++i)
        job.start([&go, i](std::stop_token stop) { return waitFor(stop, go, i); },
                  [&calls, &last](Result<int> value) {
                      ++calls;
                      last = *value;
                  });
    go = true;
    QTRY_COMPARE(calls, 1);
    QCOMPARE(last, 6);
    QCoreApplication::processEvents();
    QCOMPARE(calls, 1);
}

void LatestJobTest::cancelledIsNotDelivered()
{
    QObject owner;
    std::atomic<bool> go{false};
    int calls = 0;
    {
        LatestJob job(&owner);
        job.start([&go](std::stop_token stop) { return waitFor(stop, go, 1); },
                  [&calls](Result<int>) { ++calls; });
        job.cancel();
        QVERIFY(!job.isPending());
    }
    QCoreApplication::processEvents();
    QCOMPARE(calls, 0);
}

void LatestJobTest::exceptionBecomesAnError()
{
    QObject owner;
    LatestJob job(&owner);
    std::optional<moire::Error> error;
    job.start([](std::stop_token) -> Result<int> { throw std::runtime_error("out of luck"); },
              [&error](Result<int> value) { error = value.error(); });
    QTRY_VERIFY(error.has_value());
    QCOMPARE(error->code, Errc::Internal);
    QCOMPARE(error->sentence, std::string("out of luck"));
}

void LatestJobTest::destroyedWhileRunning()
{
    QObject owner;
    auto alive = std::make_shared<int>(1);
    std::atomic<bool> never{false};
    int calls = 0;
    {
        LatestJob job(&owner);
        job.start([&never, alive](std::stop_token stop) { return waitFor(stop, never, *alive); },
                  [&calls](Result<int>) { ++calls; });
    }
    // The destructor waited, and nothing of the task is left.
    QCOMPARE(alive.use_count(), 1L);
    QCoreApplication::processEvents();
    QCOMPARE(calls, 0);
}

QTEST_GUILESS_MAIN(LatestJobTest)
#include "latest_job_test.moc"
