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
constexpr int usualLabel = 88; // so that tables one above the other line up
constexpr int valueGap = 8;    // between the two runs' values

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
    return {leastWidth, sizeHint().height()};
}

QFont FactTable::valueFont(const Fact& fact, int pixels) const
{
    QFont font = m_look.font(fact.words ? TextRole::Small : TextRole::MonoSmall);
    if (!fact.words)
        font.setPixelSize(pixels);
    if (fact.strong)
        font.setWeight(QFont::DemiBold);
    return font;
}

int FactTable::widthWith(int pixels, int& label, int& value) const
{
    label = usualLabel;
    value =
        hasPairs() ? paint::widthOf(m_look.font(TextRole::Small), QStringLiteral("reference")) : 0;
    int single = 0;
    for (const Fact& fact : m_facts) {
        if (fact.stacked)
            continue;
        label = std::max(label, paint::widthOf(m_look.font(TextRole::Small), fact.label));
        const QFont font = valueFont(fact, pixels);
        if (fact.paired)
            value = std::max(
                {value, paint::widthOf(font, fact.reference), paint::widthOf(font, fact.target)});
        else if (!fact.words)
            single = std::max(single, paint::widthOf(font, fact.reference));
    }
    label += Look::inset;
    return label + std::max(hasPairs() ? 2 * value + valueGap : 0, single);
}

FactTable::Columns FactTable::columns() const
{
    const int room = width() - 2 * Look::inset;
    int label = 0;
    int value = 0;
    int pixels = m_look.font(TextRole::MonoSmall).pixelSize();
    int needed = widthWith(pixels, label, value);
    while (needed > room && pixels > paint::smallestPixels)
        needed = widthWith(--pixels, label, value);
    Columns at;
    at.pixels = pixels;
    at.value = Look::inset + label;
    at.right = width() - Look::inset;
    // Room to spare lies between the two values, but does not tear them apart.
    const int spare = std::max(0, at.right - at.value - 2 * value - valueGap);
    at.second = at.value + value + valueGap + std::min(spare / 2, 2 * Look::inset);
    return at;
}

void FactTable::paintStacked(QPainter& painter, const Fact& fact, int y) const
{
    const Theme& theme = m_look.theme();
    const int room = width() - 2 * Look::inset;
    paint::text(painter, QRect(Look::inset, y, room, lineHeight), Qt::AlignLeft | Qt::AlignVCenter,
                fact.label, paint::fitted(m_look.font(TextRole::Small), fact.label, room),
                theme.dim, Qt::ElideNone);
    // Long bit strings (fp64) shrink until they fit.
    QFont font = m_look.font(TextRole::MonoSmall);
    constexpr int smallestBits = 6;
    while (font.pixelSize() > smallestBits
           && paint::widthOf(font, fact.reference) > width() - 2 * Look::inset)
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

void FactTable::paintFact(QPainter& painter, const Columns& at, const Fact& fact, int y) const
{
    const Theme& theme = m_look.theme();
    paint::text(painter, QRect(Look::inset, y, at.value - Look::inset, lineHeight),
                Qt::AlignLeft | Qt::AlignVCenter, fact.label, m_look.font(TextRole::Small),
                theme.dim);
    const QFont font = valueFont(fact, at.pixels);
    const auto value = [&](int x, int to, const QString& text) {
        const QColor ink = text == QLatin1String("–") ? theme.faint : theme.ink;
        paint::text(painter, QRect(x, y, to - x, lineHeight), Qt::AlignLeft | Qt::AlignVCenter,
                    text, font, ink, fact.words ? Qt::ElideRight : Qt::ElideNone);
    };
    value(at.value, fact.paired ? at.second - valueGap : at.right, fact.reference);
    if (fact.paired)
        value(at.second, at.right, fact.target);
}

void FactTable::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    int y = Look::gap;
    const Columns at = columns();
    if (hasPairs()) {
        const QFont font = m_look.font(TextRole::Small);
        const auto head = [&](int x, const QString& text, const QColor& ink) {
            paint::text(painter, QRect(x, y, at.right - x, lineHeight),
                        Qt::AlignLeft | Qt::AlignVCenter, text, font, ink);
        };
        head(at.value, QStringLiteral("reference"), theme.reference);
        head(at.second, QStringLiteral("target"), theme.target);
        y += lineHeight;
    }
    for (const Fact& fact : m_facts) {
        if (fact.stacked)
            paintStacked(painter, fact, y);
        else
            paintFact(painter, at, fact, y);
        y += heightOf(fact);
    }
}

} // namespace moire::widgets
