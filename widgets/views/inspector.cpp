// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/inspector.h"

#include "core/base/text.h"

#include <QHeaderView>
#include <QScrollArea>
#include <QTableView>
#include <QVBoxLayout>

namespace moire::widgets {

namespace {

constexpr int elementRowHeight = 20;
constexpr int elementWidth = 60;
constexpr int ulpsWidth = 52;

} // namespace

Inspector::Inspector(const Look& look, Cursor& cursor, CursorDetails& details, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_cursor(cursor)
    , m_details(details)
    , m_worst(new FactTable(look))
    , m_measures(new FactTable(look))
    , m_histogramTitle(new SectionLabel(look, QStringLiteral("ulp histogram")))
    , m_histogram(new UlpHistogram(look))
    , m_matrixTitle(new SectionLabel(look, QStringLiteral("value classes")))
    , m_matrix(new ClassMatrix(look))
    , m_elementsTitle(new SectionLabel(look, QStringLiteral("worst elements")))
    , m_elements(new QTableView)
{
    auto* content = new QWidget;
    content->setObjectName(QStringLiteral("panelGround"));
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    for (QWidget* part :
         std::initializer_list<QWidget*>{m_worst, m_measures, m_histogramTitle, m_histogram,
                                         m_matrixTitle, m_matrix, m_elementsTitle, m_elements})
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
    m_histogramTitle->setNote(QStringLiteral("elements, log"));
    m_elements->setModel(&m_model);
    m_elements->setAccessibleName(QStringLiteral("Worst elements"));
    m_elements->setShowGrid(false);
    m_elements->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_elements->verticalHeader()->hide();
    m_elements->verticalHeader()->setMinimumSectionSize(elementRowHeight);
    m_elements->verticalHeader()->setDefaultSectionSize(elementRowHeight);
    m_elements->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    for (const auto& [narrow, wide] : {std::pair(ElementModel::Element, elementWidth),
                                       std::pair(ElementModel::Ulps, ulpsWidth)}) {
        m_elements->horizontalHeader()->setSectionResizeMode(narrow, QHeaderView::Fixed);
        m_elements->setColumnWidth(narrow, wide);
    }
    m_elements->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_elements->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_elements->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_elements->setTabKeyNavigation(false);
    connect(&details, &CursorDetails::siteChanged, this, &Inspector::refresh);
    connect(&look, &Look::changed, this, &Inspector::restyle);
    restyle();
}

void Inspector::restyle()
{
    m_elements->setFont(m_look.font(TextRole::MonoSmall));
    m_elements->horizontalHeader()->setFont(m_look.font(TextRole::Small));
}

void Inspector::refresh()
{
    const ComparedPointer& compared = m_cursor.compared();
    const SampleEntry* sample = m_cursor.sample();
    if (!compared || sample == nullptr)
        return;
    const auto row = m_cursor.rowPair();
    if (!row) {
        const bool apart = sample->emptyCell(m_cursor.place().column) == cell::notComparable;
        Q_EMIT stateChanged(
            apart ? QStringLiteral("Not comparable") : QStringLiteral("Not recorded"),
            apart
                ? QStringLiteral("The texts part at token %1; behind it the two runs see different "
                                 "tokens.")
                      .arg(sample->split.value_or(0))
                : QStringLiteral("No pass of the model was recorded at this token."),
            apart ? QStringLiteral("To compare further, score the target on the reference's tokens "
                                   "(moire-capture run --replay-from).")
                  : QStringLiteral("Choose a token whose column is not hatched."));
        return;
    }
    const diff::Site& site = compared->report.site(*row, m_cursor.place().tap);
    const auto& detail = m_details.site();
    if (site.state == diff::Site::State::NotRecorded) {
        Q_EMIT stateChanged(QStringLiteral("Not recorded"),
                            QStringLiteral("This tap holds no values at this token in one of the "
                                           "two runs."),
                            QStringLiteral("Capture both runs with this tap (--taps)."));
        return;
    }
    if (detail.error && site.valuesCompared) {
        Q_EMIT stateChanged(QStringLiteral("Could not be read"),
                            QString::fromStdString(base::visibleText(detail.error->text())),
                            QStringLiteral("Press F5 to open the files again."));
        return;
    }
    Q_EMIT stateChanged({}, {}, {});
    if (detail.value && (site.valuesCompared || !detail.value->worst.empty()))
        showDetail(site, *detail.value);
    else
        showDigestsOnly(site);
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
    m_model.setElements(detail.worst, detail.referenceType, detail.targetType);
    m_worst->setVisible(!detail.worst.empty());
    const bool counted = !detail.ulpHistogram.empty();
    m_histogramTitle->setVisible(counted);
    m_histogram->setVisible(counted);
    m_matrixTitle->setVisible(m_matrix->isTelling());
    m_matrix->setVisible(m_matrix->isTelling());
    const bool differs = !detail.worst.empty();
    m_elementsTitle->setVisible(differs);
    m_elements->setVisible(differs);
    const int rows = m_model.rowCount();
    m_elementsTitle->setNote(
        site.valuesCompared ? QStringLiteral("%1 of %2").arg(rows).arg(site.unequal) : QString());
    m_elements->setFixedHeight(m_elements->horizontalHeader()->sizeHint().height()
                               + rows * elementRowHeight + Look::step);
}

} // namespace moire::widgets
