// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/fact_table.h"

#include "widgets/views/paint.h"

#include <QFontMetrics>

#include <algorithm>
#include <numeric>

namespace moire::widgets {

namespace {

constexpr int lineHeight = 20;
constexpr int labelWidth = 100;
constexpr int leastWidth = 240;

} // namespace

FactTable::FactTable(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setSizePolicy(policy);
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

void FactTable::setFacts(std::vector<Fact> facts)
{
    m_facts = std::move(facts);
    QStringList lines;
    for (const Fact& fact : m_facts)
        lines.append(fact.paired
                         ? QStringLiteral("%1: %2, %3").arg(fact.label, fact.reference, fact.target)
                         : QStringLiteral("%1: %2").arg(fact.label, fact.reference));
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

bool FactTable::hasPairs() const
{
    return std::any_of(m_facts.begin(), m_facts.end(),
                       [](const Fact& fact) { return fact.paired && !fact.stacked; });
}

int FactTable::heightOf(const Fact& fact) const
{
    return fact.stacked ? 3 * lineHeight : lineHeight;
}

QSize FactTable::sizeHint() const
{
    const int facts =
        std::accumulate(m_facts.begin(), m_facts.end(), 0,
                        [this](int sum, const Fact& fact) { return sum + heightOf(fact); });
    return {leastWidth, facts + (hasPairs() ? lineHeight : 0) + 2 * Look::gap};
}

QSize FactTable::minimumSizeHint() const
{
    return {leastWidth / 2, sizeHint().height()};
}

void FactTable::paintStacked(QPainter& painter, const Fact& fact, int y) const
{
    const Theme& theme = m_look.theme();
    paint::text(painter, QRect(Look::inset, y, width() - 2 * Look::inset, lineHeight),
                Qt::AlignLeft | Qt::AlignVCenter, fact.label, m_look.font(TextRole::Small),
                theme.dim);
    // Long bit strings (fp64) shrink until they fit.
    QFont font = m_look.font(TextRole::MonoSmall);
    while (font.pixelSize() > 7 && paint::widthOf(font, fact.reference) > width() - 2 * Look::inset)
        font.setPixelSize(font.pixelSize() - 1);
    const QFontMetrics metrics(font);
    const auto line = [&](const QString& text, const QString& other, int top, const QColor& ink) {
        int x = Look::inset;
        for (qsizetype i = 0; i < text.size(); ++i) {
            const QString letter = text.mid(i, 1);
            const int wide = metrics.horizontalAdvance(letter);
            const QRect box(x, top, wide, lineHeight);
            const bool differs = i < other.size() && other[i] != text[i];
            if (differs)
                painter.fillRect(box.adjusted(0, 2, 0, -2), theme.differGround);
            painter.setFont(font);
            painter.setPen(differs ? theme.differInk : ink);
            painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, letter);
            x += wide;
        }
    };
    line(fact.reference, fact.target, y + lineHeight, theme.reference);
    line(fact.target, fact.reference, y + 2 * lineHeight, theme.target);
}

void FactTable::paintFact(QPainter& painter, const Fact& fact, int y) const
{
    const Theme& theme = m_look.theme();
    const int right = width() - Look::inset;
    paint::text(painter, QRect(Look::inset, y, labelWidth - Look::gap, lineHeight),
                Qt::AlignLeft | Qt::AlignVCenter, fact.label, m_look.font(TextRole::Small),
                theme.dim);
    const int left = Look::inset + labelWidth;
    QFont font = m_look.font(fact.words ? TextRole::Small : TextRole::MonoSmall);
    if (fact.strong)
        font.setWeight(QFont::DemiBold);
    const auto value = [&](int x, int to, const QString& text) {
        paint::text(painter, QRect(x, y, to - x, lineHeight), Qt::AlignLeft | Qt::AlignVCenter,
                    text, font, text == QLatin1String("–") ? theme.faint : theme.ink);
    };
    if (!fact.paired) {
        value(left, right, fact.reference);
        return;
    }
    const int middle = left + (right - left) / 2;
    value(left, middle - Look::step, fact.reference);
    value(middle, right, fact.target);
}

void FactTable::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    int y = Look::gap;
    if (hasPairs()) {
        const int left = Look::inset + labelWidth;
        const int middle = left + (width() - Look::inset - left) / 2;
        const QFont font = m_look.font(TextRole::Small);
        paint::text(painter, QRect(left, y, middle - left, lineHeight),
                    Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("reference"), font,
                    theme.reference);
        paint::text(painter, QRect(middle, y, width() - middle, lineHeight),
                    Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("target"), font, theme.target);
        y += lineHeight;
    }
    for (const Fact& fact : m_facts) {
        if (fact.stacked)
            paintStacked(painter, fact, y);
        else
            paintFact(painter, fact, y);
        y += heightOf(fact);
    }
}

} // namespace moire::widgets
