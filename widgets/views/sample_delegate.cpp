// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/sample_delegate.h"

#include "widgets/models/sample_model.h"
#include "widgets/plot/colour_scale.h"
#include "widgets/views/paint.h"

#include <algorithm>
#include <cmath>

namespace moire::widgets {

namespace {

constexpr int itemHeight = 76;
constexpr int idTop = 8;
constexpr int summaryTop = 26;
constexpr int lineHeight = 18;
constexpr int curveTop = 48;
constexpr int curveHeight = 20;
constexpr int edgeWidth = 3;

} // namespace

QSize SampleDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const
{
    return {120, itemHeight};
}

void SampleDelegate::paintCurve(QPainter& painter, const QRect& rect,
                                const SampleEntry& sample) const
{
    if (sample.columns() == 0)
        return;
    const DecadeRange range = m_compared->range(HeatMeasure::Kl);
    const ColourScale scale(m_look.theme(), range);
    const auto count = static_cast<int>(sample.columns());
    // Several positions share a bar where there are more of them than pixels: the largest counts.
    const int bars = std::min(count, rect.width() / 3);
    for (int bar = 0; bar < bars; ++bar) {
        const int begin = bar * count / bars;
        const int end = std::max(begin + 1, (bar + 1) * count / bars);
        const float value =
            *std::max_element(sample.klCells.begin() + begin, sample.klCells.begin() + end);
        const int left = rect.x() + bar * rect.width() / bars;
        const int width =
            std::max(2, (bar + 1) * rect.width() / bars - bar * rect.width() / bars - 1);
        int height = 2;
        QColor colour = value < cell::equal ? m_look.theme().hatch : scale.colour(value);
        if (value == cell::equal)
            colour = m_look.theme().line;
        if (value > cell::equal) {
            const double place =
                (std::log10(static_cast<double>(value)) - range.low) / (range.high - range.low);
            height = 4 + static_cast<int>(std::clamp(place, 0.0, 1.0) * (rect.height() - 4));
        }
        painter.fillRect(left, rect.bottom() + 1 - height, width, height, colour);
    }
}

void SampleDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const
{
    const Theme& theme = m_look.theme();
    const QRect rect = option.rect;
    const bool chosen = option.state.testFlag(QStyle::State_Selected);
    if (chosen || option.state.testFlag(QStyle::State_MouseOver))
        painter->fillRect(rect, chosen ? theme.selection : theme.ground);
    if (chosen)
        painter->fillRect(rect.x(), rect.y(), edgeWidth, rect.height(), theme.reference);
    painter->setPen(theme.line);
    painter->drawLine(rect.bottomLeft(), rect.bottomRight());
    const QRect inner = rect.adjusted(Look::inset, 0, -Look::inset, 0);
    const QString measure = index.data(SampleModel::MeasureRole).toString();
    const QFont mono = m_look.font(TextRole::MonoSmall);
    const QRect first(inner.x(), inner.y() + idTop, inner.width(), lineHeight);
    const int measureWidth =
        paint::text(*painter, first, Qt::AlignRight | Qt::AlignVCenter, measure, mono, theme.dim);
    paint::text(*painter, first.adjusted(0, 0, -measureWidth - Look::gap, 0),
                Qt::AlignLeft | Qt::AlignVCenter, index.data().toString(),
                m_look.font(TextRole::BaseStrong), theme.ink);
    paint::text(*painter, QRect(inner.x(), inner.y() + summaryTop, inner.width(), lineHeight),
                Qt::AlignLeft | Qt::AlignVCenter, index.data(SampleModel::SummaryRole).toString(),
                m_look.font(TextRole::Small), theme.dim);
    const auto sample = static_cast<std::size_t>(index.data(SampleModel::SampleRole).toULongLong());
    if (m_compared && sample < m_compared->samples.size())
        paintCurve(*painter, QRect(inner.x(), inner.y() + curveTop, inner.width(), curveHeight),
                   m_compared->samples[sample]);
}

} // namespace moire::widgets
