// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/comparison.h"
#include "core/diff/metric_catalogue.h"
#include "tests/core/diff/plain_run.h"

#include <QFile>
#include <QRegularExpression>
#include <QtTest>

#include <set>

using namespace moire;
using namespace moire::diff;

/// METRICS.md, the table in the code and what a report really holds are the same list.
class CatalogueTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void documentAndCode();
    void reportsHoldThemAll();
};

void CatalogueTest::documentAndCode()
{
    QFile file(qEnvironmentVariable("MOIRE_SOURCE") + "/core/diff/METRICS.md");
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
    QString text = QString::fromUtf8(file.readAll());
    text.replace("\\|", "/"); // a bar inside a cell
    QStringList documented;
    static const QRegularExpression line(R"(^\| ([A-L][0-9]+) \| ([^|]*) \| [^|]* \| ([^|]*)\|)",
                                         QRegularExpression::MultilineOption);
    for (auto at = line.globalMatch(text); at.hasNext();) {
        const auto match = at.next();
        documented << match.captured(1) + '|' + match.captured(2) + '|'
                          + match.captured(3).trimmed();
    }
    QStringList coded;
    for (const Metric& metric : metricCatalogue()) {
        const auto word = [](std::string_view s) {
            return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
        };
        coded << word(metric.id) + '|' + word(metric.name) + '|' + word(metric.unit);
        QCOMPARE(metric.family, metric.id.substr(0, 1));
    }
    QCOMPARE(documented, coded);
}

void CatalogueTest::reportsHoldThemAll()
{
    const auto run = test::randomRun(1, 2, 4).build();
    base::Progress progress;
    const auto report = compare(run, run, {}, {}, 1, {}, progress);
    QVERIFY(report);
    std::vector<std::string_view> held;
    std::set<std::string_view> ids;
    for (const Measure& measure : report->measures) {
        QVERIFY2(ids.insert(measure.id).second, measure.id.c_str());
        const std::string_view bare = std::string_view(measure.id).substr(0, measure.id.find('['));
        if (held.empty() || held.back() != bare)
            held.push_back(bare);
    }
    std::vector<std::string_view> wanted;
    for (const Metric& metric : metricCatalogue())
        wanted.push_back(metric.id);
    QVERIFY(held == wanted); // all of them, in the catalogue's order
}

QTEST_APPLESS_MAIN(CatalogueTest)
#include "catalogue_test.moc"
