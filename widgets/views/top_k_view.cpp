// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/top_k_view.h"

#include "core/base/text.h"
#include "core/report/number.h"
#include "widgets/views/absence.h"

#include <QStackedLayout>

#include <algorithm>

namespace moire::widgets {

namespace {

constexpr int logitDigits = 7;

} // namespace

std::vector<LadderEntry> ladderOf(const Compared& compared, const diff::LogitsDetail& detail)
{
    std::vector<LadderEntry> entries;
    for (const diff::RankedPair& pair : detail.ladder)
        entries.push_back({tokenText(compared, pair.id), pair.referenceLogit, pair.targetLogit,
                           pair.referenceRank, pair.targetRank});
    return entries;
}

QString marginText(const diff::LogitsDetail& detail)
{
    constexpr int digits = 4;
    const auto side = [](double margin, const std::optional<std::uint64_t>& ulps) {
        const QString text = textOfNumber(margin, digits);
        return ulps ? text + QString::fromStdString(" (" + report::grouped(*ulps) + " ulp)") : text;
    };
    return side(detail.row.referenceMargin, detail.referenceMarginUlps) + QStringLiteral(", ")
           + side(detail.row.targetMargin, detail.targetMarginUlps);
}

TopKView::TopKView(const Look& look, Cursor& cursor, CursorDetails& details, QWidget* parent)
    : QWidget(parent)
    , m_cursor(cursor)
    , m_details(details)
    , m_ladder(new Ladder(look, this))
    , m_state(new StateView(look, this))
    , m_stack(new QStackedLayout(this))
{
    m_stack->addWidget(m_ladder);
    m_stack->addWidget(m_state);
    m_ladder->setAccessibleName(QStringLiteral("Best tokens of both runs"));
    connect(&details, &CursorDetails::logitsChanged, this, &TopKView::refresh);
}

void TopKView::refresh()
{
    const auto& detail = m_details.logits();
    const ComparedPointer& compared = m_cursor.compared();
    if (const auto absence = absenceOfRow(m_cursor)) {
        m_state->setState(absence->title, absence->sentence, absence->hint);
        m_stack->setCurrentWidget(m_state);
        return;
    }
    if (!compared || !detail.value || detail.value->ladder.empty()) {
        m_state->setState(
            QStringLiteral("No ranking here"),
            detail.error ? QString::fromStdString(base::visibleText(detail.error->text()))
                         : QStringLiteral("No logits were recorded at this token in both runs."),
            QStringLiteral("Capture both runs with the tap lm_head.out."));
        m_stack->setCurrentWidget(m_state);
        return;
    }
    int ranks = 0;
    for (const diff::RankedPair& pair : detail.value->ladder)
        ranks = std::max({ranks, pair.referenceRank + 1, pair.targetRank + 1});
    constexpr int mostRanks = 10;
    m_ladder->setEntries(ladderOf(*compared, *detail.value), std::min(ranks, mostRanks),
                         logitDigits);
    const QString margin = QStringLiteral("margin %1").arg(marginText(*detail.value));
    m_ladder->setHeads(
        QStringLiteral("rank"),
        {QStringLiteral("after position %1 · %2").arg(m_cursor.place().column).arg(margin),
         margin});
    m_stack->setCurrentWidget(m_ladder);
}

} // namespace moire::widgets
