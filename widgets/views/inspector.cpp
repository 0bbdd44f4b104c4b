// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/inspector.h"

#include "core/base/text.h"
#include "widgets/views/absence.h"
#include "widgets/views/heat_map_view.h"

#include <QScrollArea>
#include <QVBoxLayout>

namespace moire::widgets {

Inspector::Inspector(const Look& look, Cursor& cursor, CursorDetails& details, QWidget* parent)
    : QWidget(parent)
    , m_cursor(cursor)
    , m_details(details)
    , m_worst(new FactTable(look))
    , m_measures(new FactTable(look))
    , m_route(new FactTable(look))
    , m_histogramTitle(new SectionLabel(look, QStringLiteral("ulp histogram")))
    , m_histogram(new UlpHistogram(look))
    , m_matrixTitle(new SectionLabel(look, QStringLiteral("value classes")))
    , m_matrix(new ClassMatrix(look))
    , m_elementsTitle(new SectionLabel(look, QStringLiteral("worst elements")))
    , m_elements(new ElementTable(look))
{
    auto* content = new QWidget;
    content->setObjectName(QStringLiteral("panelGround"));
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    for (QWidget* part : std::initializer_list<QWidget*>{
             m_worst, m_measures, m_route, m_histogramTitle, m_histogram, m_matrixTitle, m_matrix,
             m_elementsTitle, m_elements})
        column->addWidget(part);
    column->addStretch(1);
    auto* scroll = new QScrollArea(this);
    scroll->setWidget(content);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(scroll);
    setFocusProxy(m_elements);
    m_worst->setAccessibleName(QStringLiteral("Worst element"));
    m_measures->setAccessibleName(QStringLiteral("Measures of the site"));
    m_histogramTitle->setNote(QStringLiteral("number of elements, log scale"));
    m_route->setAccessibleName(QStringLiteral("Experts of the site"));
    constexpr int scrollBar = 8;
    setMinimumWidth(FactTable::leastWidth + scrollBar);
    connect(&details, &CursorDetails::siteChanged, this, &Inspector::refresh);
    connect(&details, &CursorDetails::routingChanged, this, &Inspector::refresh);
}

void Inspector::setLocked(bool locked)
{
    m_locked = locked;
    refresh();
}

void Inspector::refresh()
{
    const ComparedPointer& compared = m_cursor.compared();
    const SampleEntry* sample = m_cursor.sample();
    const Place& place = m_cursor.place();
    if (m_locked || !compared || sample == nullptr || place.tap >= compared->report.taps.size())
        return;
    Q_EMIT titleChanged(QStringLiteral("%1 / %2 / %3")
                            .arg(sample->id)
                            .arg(place.column)
                            .arg(shortTapName(compared->report.taps[place.tap].name)));
    const auto row = m_cursor.rowPair();
    if (!row) {
        showState(nullptr);
        return;
    }
    const diff::Site& site = compared->report.site(*row, place.tap);
    const auto& detail = m_details.site();
    if (site.state == diff::Site::State::NotRecorded || (detail.error && site.valuesCompared)) {
        showState(&site);
        return;
    }
    Q_EMIT stateChanged({}, {}, {});
    if (detail.value && (site.valuesCompared || !detail.value->worst.empty()))
        showDetail(site, *detail.value);
    else
        showDigestsOnly(site);
    const auto& routing = m_details.routing();
    const bool isRouter = compared->report.taps[place.tap].kind == trace::TapKind::Router;
    const auto facts =
        isRouter && routing.value ? routeFacts(*routing.value) : std::vector<FactTable::Fact>{};
    m_route->setFacts(facts);
    m_route->setVisible(!facts.empty());
}

void Inspector::showState(const diff::Site* site)
{
    if (site != nullptr && site->state == diff::Site::State::NotRecorded) {
        Q_EMIT stateChanged(
            QStringLiteral("Not recorded"),
            QStringLiteral("This tap holds no values at this position in one of the "
                           "two runs."),
            QStringLiteral("Capture both runs with this tap (--taps)."));
    } else if (site != nullptr) {
        Q_EMIT stateChanged(
            QStringLiteral("Could not be read"),
            QString::fromStdString(base::visibleText(m_details.site().error->text())),
            QStringLiteral("Press F5 to open the files again."));
    } else if (const auto absence = absenceOfRow(m_cursor)) {
        Q_EMIT stateChanged(absence->title, absence->sentence, absence->hint);
    }
}

void Inspector::showDigestsOnly(const diff::Site& site)
{
    m_worst->hide();
    m_measures->setFacts(siteFacts(site, nullptr, m_cursor.compared()->measured));
    for (QWidget* part : std::initializer_list<QWidget*>{
             m_histogramTitle, m_histogram, m_matrixTitle, m_matrix, m_elementsTitle, m_elements})
        part->hide();
}

void Inspector::showDetail(const diff::Site& site, const diff::SiteDetail& detail)
{
    m_worst->setFacts(elementFacts(detail));
    m_measures->setFacts(siteFacts(site, &detail, m_cursor.compared()->measured));
    m_histogram->setCounts(detail.ulpHistogram);
    m_matrix->setMatrix(detail.classMatrix);
    m_elements->setElements(detail.worst, detail.referenceType, detail.targetType);
    m_worst->setVisible(!detail.worst.empty());
    const bool counted = !detail.ulpHistogram.empty();
    m_histogramTitle->setVisible(counted);
    m_histogram->setVisible(counted);
    m_matrixTitle->setVisible(m_matrix->isTelling());
    m_matrix->setVisible(m_matrix->isTelling());
    const bool differs = !detail.worst.empty();
    m_elementsTitle->setVisible(differs);
    m_elements->setVisible(differs);
    m_elementsTitle->setNote(
        site.valuesCompared ? QStringLiteral("%1 of %2").arg(m_elements->rows()).arg(site.unequal)
                            : QString());
}

} // namespace moire::widgets
