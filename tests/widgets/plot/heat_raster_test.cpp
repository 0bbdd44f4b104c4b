// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/plot/heat_raster.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <random>

using namespace moire::widgets;

/// A single cell that differs, at any zoom and place: it must be seen.
class HeatRasterTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void poolingKeepsEveryCell();
    void spansCoverEveryCell();
    void aLoneDifferenceIsAlwaysDrawn();
    void colours();
    void smallestIsUnlikeEqual();
    void inkIsReadable();
    void emptyGrid();
    void pageHasTheSameTheme();
};

void HeatRasterTest::poolingKeepsEveryCell()
{
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
        const std::size_t rows = 1 + random() % 9;
        const std::size_t columns = 1 + random() % 70;
        std::vector<float> cells(rows * columns);
        for (float& cell : cells)
            cell = static_cast<float>(static_cast<int>(random() % 100) - 2);
        const HeatGrid grid(rows, columns, cells);
        for (std::size_t level = 0; level == grid.levelFor(static_cast<double>(1U << level));
             ++level) {
            std::vector<float> pooled;
            grid.poolRows(level, 0, rows, 0, grid.levelColumns(level), pooled);
            for (std::size_t block = 0; block < grid.levelColumns(level); ++block) {
                float largest = -100;
                for (std::size_t row = 0; row < rows; ++row)
                    for (std::size_t column = block << level;
                         column < std::min(columns, (block + 1) << level); ++column)
                        largest = std::max(largest, cells[row * columns + column]);
                QCOMPARE(pooled[block], largest);
            }
        }
    }
}

void HeatRasterTest::spansCoverEveryCell()
{
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        const std::size_t count = 1 + random() % 500;
        const int pixels = 1 + static_cast<int>(random() % 400);
        const double span = static_cast<double>(1 + random() % (count * 10)) / 10.0;
        const double room = std::max(0.0, static_cast<double>(count) - span);
        const double first = room * static_cast<double>(random() % 1000) / 1000.0;
        const auto spans =
            pixelSpans(first, std::min(span, static_cast<double>(count)), pixels, count);
        std::vector<bool> seen(count, false);
        for (const PixelSpan& pixel : spans) {
            QVERIFY(pixel.begin < pixel.end && pixel.end <= count);
            if (!pixel.gap)
                std::fill(seen.begin() + static_cast<std::ptrdiff_t>(pixel.begin),
                          seen.begin() + static_cast<std::ptrdiff_t>(pixel.end), true);
        }
        // Every cell that is wholly in view has a pixel of its own.
        const auto last = std::min(static_cast<double>(count), first + span);
        for (std::size_t cell = 0; cell < count; ++cell)
            if (static_cast<double>(cell) >= first && static_cast<double>(cell + 1) <= last)
                QVERIFY2(seen[cell], qPrintable(QStringLiteral("cell %1 of %2, %3 pixels, span %4")
                                                    .arg(cell)
                                                    .arg(count)
                                                    .arg(pixels)
                                                    .arg(span)));
    }
}

void HeatRasterTest::aLoneDifferenceIsAlwaysDrawn()
{
    std::mt19937 random(3);
    const Theme theme = Theme::load(ThemeKind::Light);
    const ColourScale scale(theme, {-3, 0});
    for (int round = 0; round < 150; ++round) {
        const std::size_t rows = 1 + random() % 300;
        const std::size_t columns = 1 + random() % 2000;
        std::vector<float> cells(rows * columns, cell::equal);
        const std::size_t row = random() % rows;
        const std::size_t column = random() % columns;
        cells[row * columns + column] = 1.0F;
        const HeatGrid grid(rows, columns, std::move(cells));
        const QSize pixels(20 + static_cast<int>(random() % 300),
                           20 + static_cast<int>(random() % 200));
        const std::vector<bool> groups(rows, true);
        const QImage image = renderHeat(
            grid, {QRectF(0, 0, static_cast<double>(columns), static_cast<double>(rows)), pixels},
            scale, theme, groups);
        const QRgb wanted = scale.at(1.0F);
        bool found = false;
        for (int y = 0; y < image.height() && !found; ++y) {
            const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
            found = std::find(line, line + image.width(), wanted) != line + image.width();
        }
        QVERIFY2(found, qPrintable(QStringLiteral("%1 × %2 cells").arg(rows).arg(columns)));
    }
}

void HeatRasterTest::colours()
{
    for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark}) {
        const Theme theme = Theme::load(kind);
        const ColourScale scale(theme, {-4, 0});
        QCOMPARE(scale.colour(cell::equal), theme.equal);
        QCOMPARE(scale.colour(cell::unsized), theme.unsized);
        // No size and no equality: far from both.
        QVERIFY(std::find(theme.scale.begin(), theme.scale.end(), theme.unsized)
                == theme.scale.end());
        QCOMPARE(scale.colour(1e-4F), theme.scale.front());
        QCOMPARE(scale.colour(1e-9F), theme.scale.front());
        QCOMPARE(scale.colour(1.0F), theme.scale.back());
        QCOMPARE(scale.colour(std::numeric_limits<float>::infinity()), theme.scale.back());
        QVERIFY(scale.colour(1e-9F) != scale.colour(cell::equal));
        const ColourScale counts = ColourScale::counting(theme, 4);
        QVERIFY(counts.colour(1) != theme.scale.front()); // one expert is no small thing
        QCOMPARE(counts.colour(4), theme.scale.back());
    }
    // Fixed colours.
    QCOMPARE(Theme::load(ThemeKind::Light).scale[3], QColor(0x3c, 0x62, 0xaa));
    QCOMPARE(Theme::load(ThemeKind::Dark).scale[5], QColor(0xfd, 0xe7, 0x4d));
    QCOMPARE(Theme::load(ThemeKind::Dark).reference, QColor(0x79, 0xa6, 0xff));
}

/// Relative luminance of WCAG 2.1: lightness is what colour-blind eyes see as others do.
double luminance(const QColor& colour)
{
    const auto linear = [](double c) {
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF())
           + 0.0722 * linear(colour.blueF());
}

void HeatRasterTest::smallestIsUnlikeEqual()
{
    for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark}) {
        const Theme theme = Theme::load(kind);
        const bool light = kind == ThemeKind::Light;
        const auto contrast = [](const QColor& a, const QColor& b) {
            const double bright = std::max(luminance(a), luminance(b)) + 0.05;
            return bright / (std::min(luminance(a), luminance(b)) + 0.05);
        };
        QVERIFY2(contrast(theme.scale.front(), theme.equal) >= 1.35,
                 qPrintable(QString::number(contrast(theme.scale.front(), theme.equal))));
        const ColourScale counts = ColourScale::counting(theme, 8);
        QVERIFY(contrast(counts.colour(1), theme.equal) >= 2);
        // Away from the ground all the way, so that larger never looks smaller.
        for (std::size_t i = 1; i < theme.scale.size(); ++i)
            QVERIFY(light ? luminance(theme.scale[i]) < luminance(theme.scale[i - 1])
                          : luminance(theme.scale[i]) > luminance(theme.scale[i - 1]));
    }
}

void HeatRasterTest::inkIsReadable()
{
    const Theme theme = Theme::load(ThemeKind::Light);
    const ColourScale scale(theme, {-4, 0});
    QVERIFY(scale.inkOn(1.0F).lightness() > 200);  // on the darkest
    QVERIFY(scale.inkOn(1e-4F).lightness() < 100); // on the lightest
}

void HeatRasterTest::emptyGrid()
{
    const Theme theme = Theme::load(ThemeKind::Light);
    const QImage image = renderHeat({}, {QRectF(), QSize(10, 10)}, {}, theme, {});
    QCOMPARE(image.size(), QSize(10, 10));
    QVERIFY(HeatGrid().isEmpty());
}

/// The report's style sheet names the window's colours.
void HeatRasterTest::pageHasTheSameTheme()
{
    QFile file(qEnvironmentVariable("MOIRE_SOURCE")
               + QStringLiteral("/resources/report/report.css"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString sheet = QString::fromUtf8(file.readAll());
    const QStringList roots = sheet.split(QStringLiteral(":root{")).mid(1);
    QCOMPARE(roots.size(), 2); // light, then dark
    for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark}) {
        const QString root = roots[kind == ThemeKind::Light ? 0 : 1].section('}', 0, 0);
        const Theme theme = Theme::load(kind);
        for (const auto& [name, colour] :
             {std::pair("ground", theme.ground), std::pair("panel", theme.panel),
              std::pair("line", theme.line), std::pair("ink", theme.ink),
              std::pair("dim", theme.dim), std::pair("reference", theme.reference),
              std::pair("target", theme.target), std::pair("differs", theme.differInk),
              std::pair("differs-ground", theme.differGround)}) {
            const QString text =
                root.section(QStringLiteral("--%1:").arg(name), 1, 1).section(';', 0, 0);
            QVERIFY2(QColor(text) == colour, name);
        }
    }
}

QTEST_MAIN(HeatRasterTest)
#include "heat_raster_test.moc"
