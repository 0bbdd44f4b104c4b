// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/heat_map_view.h"

#include "core/base/text.h"
#include "core/report/decades.h"
#include "widgets/views/token_strips.h"

#include <QKeyEvent>
#include <QVBoxLayout>

namespace moire::widgets {

QString shortTapName(const std::string& name)
{
    QString text = QString::fromStdString(base::visibleText(name));
    if (text.startsWith(QLatin1String("model.")))
        text.remove(0, 6);
    if (text.endsWith(QLatin1String(".out")))
        text.chop(4);
    return text;
}

QString quantityOf(Shown shown, HeatMeasure measure)
{
    switch (shown) {
    case Shown::Reference:
        return QStringLiteral("RMS of the reference");
    case Shown::Target:
        return QStringLiteral("RMS of the target");
    case Shown::Difference:
        break;
    }
    return nameOf(measure);
}

QString unsizedWords(const Compared& compared)
{
    return compared.measured ? QStringLiteral("bits differ, values not recorded")
                             : QStringLiteral("bits differ, measuring…");
}

void fillLayers(const std::vector<std::int32_t>& layerOfRow, HeatContent& content)
{
    content.groupStart.assign(layerOfRow.size(), false);
    content.groupTicks.clear();
    for (std::size_t row = 0; row < layerOfRow.size(); ++row) {
        const bool begins = row > 0 ? layerOfRow[row] != layerOfRow[row - 1] : layerOfRow[row] >= 0;
        content.groupStart[row] = begins && row > 0;
        if (begins && layerOfRow[row] >= 0)
            content.groupTicks.emplace_back(row, QStringLiteral("layer %1").arg(layerOfRow[row]));
    }
}

HeatMapView::HeatMapView(const Look& look, Cursor& cursor, HeatSource& source, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_cursor(cursor)
    , m_source(source)
    , m_canvas(new HeatCanvas(look, TokenStrips::gutter, this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_canvas);
    setFocusProxy(m_canvas);
    m_canvas->setAccessibleName(QStringLiteral("Heat map of taps by tokens"));
    connect(&cursor, &Cursor::moved, this, &HeatMapView::follow);
    connect(&source, &HeatSource::gridChanged, this, &HeatMapView::refresh);
    connect(&look, &Look::changed, this, &HeatMapView::refresh);
    connect(m_canvas, &HeatCanvas::cellChosen, this, [this](std::size_t row, std::size_t column) {
        m_cursor.moveTo(Place{m_cursor.place().sample, column, row});
    });
}

void HeatMapView::refresh()
{
    HeatContent content;
    const ComparedPointer compared = m_cursor.compared();
    if (compared && m_source.grid() && m_source.sample() < compared->samples.size()) {
        const SampleEntry& sample = compared->samples[m_source.sample()];
        content.grid = m_source.grid();
        content.scale = ColourScale(m_look.theme(), m_source.range());
        content.flips = sample.flips;
        content.routeChanges = sample.routeChanges;
        content.contour = m_source.shown() == Shown::Difference
                          && !compared->divergences.all(Criterion::Bits).empty();
        std::vector<std::int32_t> layers;
        for (const diff::TapReport& tap : compared->report.taps) {
            content.rowNames.push_back(shortTapName(tap.name));
            layers.push_back(tap.layer);
        }
        fillLayers(layers, content);
        fillWords(content);
        content.describe = [compared, grid = content.grid, &sample, shown = m_source.shown(),
                            measure = m_source.tapMeasure()](std::size_t row, std::size_t column) {
            const QString token = column < sample.referenceTokens.size()
                                      ? sample.referenceTokens[column].text
                                      : QString();
            const float value = grid->at(row, column);
            const bool sized = shown != Shown::Difference && value > cell::equal;
            return QStringLiteral("%1\nposition %2  %3\n%4: %5")
                .arg(QString::fromStdString(base::visibleText(compared->report.taps[row].name)))
                .arg(column)
                .arg(token, quantityOf(shown, measure),
                     sized ? textOfNumber(static_cast<double>(value))
                     : value == cell::equal && shown != Shown::Difference ? QStringLiteral("0")
                     : value == cell::unsized                             ? unsizedWords(*compared)
                                              : textOfCell(value, measure));
        };
    }
    m_canvas->setContent(std::move(content));
    follow();
    Q_EMIT titleChanged();
}

void HeatMapView::fillWords(HeatContent& content) const
{
    const DecadeRange range = m_source.range();
    const HeatMeasure measure = m_source.tapMeasure();
    const auto decade = [](int power) { return QString::fromStdString(report::decadeText(power)); };
    content.lowText = QStringLiteral("≤ ") + decade(range.low);
    content.highText = QStringLiteral("≥ ") + decade(range.high);
    content.unsizedText = unsizedWords(*m_cursor.compared());
    if (m_source.shown() != Shown::Difference) {
        content.zeroText = QStringLiteral("all zero");
        return;
    }
    if (measure == HeatMeasure::UnequalShare)
        content.highText = QStringLiteral("all");
    if (measure == HeatMeasure::MaxUlp)
        content.lowText = QStringLiteral("1 ulp");
}

void HeatMapView::follow()
{
    const Place& place = m_cursor.place();
    const bool shown = m_source.grid() && m_source.sample() == place.sample;
    m_canvas->setCursorCell(shown ? std::optional(place.tap) : std::nullopt,
                            shown ? std::optional(place.column) : std::nullopt);
}

QString HeatMapView::title() const
{
    if (m_source.grid() && m_source.grid()->isOfBits())
        return QStringLiteral("Taps × tokens · bits equal or not");
    return QStringLiteral("Taps × tokens · %1, log scale")
        .arg(quantityOf(m_source.shown(), m_source.tapMeasure()));
}

QString HeatMapView::note() const
{
    if (!m_source.grid())
        return {};
    return QStringLiteral("%1 × %2, worst of each cell")
        .arg(m_source.grid()->rows())
        .arg(m_source.grid()->columns());
}

void HeatMapView::keyPressEvent(QKeyEvent* event)
{
    const Place& place = m_cursor.place();
    constexpr double keyPan = 64;
    switch (event->key()) {
    case Qt::Key_Left:
        m_cursor.moveColumn(place.column == 0 ? 0 : place.column - 1);
        break;
    case Qt::Key_Right:
        m_cursor.moveColumn(place.column + 1);
        break;
    case Qt::Key_Up:
        m_cursor.moveTap(place.tap == 0 ? 0 : place.tap - 1);
        break;
    case Qt::Key_Down:
        m_cursor.moveTap(place.tap + 1);
        break;
    case Qt::Key_W:
        m_canvas->zoomBy(HeatCanvas::keyStep);
        break;
    case Qt::Key_S:
        m_canvas->zoomBy(1 / HeatCanvas::keyStep);
        break;
    case Qt::Key_A:
        m_canvas->pan(-keyPan, 0);
        break;
    case Qt::Key_D:
        m_canvas->pan(keyPan, 0);
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace moire::widgets
