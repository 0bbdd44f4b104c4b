// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/ladder.h"

#include "widgets/models/measure.h"
#include "widgets/views/paint.h"

#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <limits>

namespace moire::widgets {

namespace {

constexpr int headHeight = 24;
constexpr int rowHeight = 22;
constexpr int barHeight = 12;
constexpr int roomyRank = 40; // width of the ranks
constexpr int narrowRank = 34;
constexpr int narrowWidth = 360; // of the whole
constexpr int rankRight = 22;    // where rank numbers end
constexpr int headWord = 48;     // room of "target"
constexpr int mostLabel = 128;
constexpr int leastLabel = 28;
constexpr int leastBar = 16;
constexpr int leastLines = 20;
constexpr int mostBar = 320;
constexpr int mostLines = 240;

int rankOf(const LadderEntry& entry, bool target)
{
    return target ? entry.targetRank : entry.referenceRank;
}

double valueOf(const LadderEntry& entry, bool target)
{
    return target ? entry.target : entry.reference;
}

} // namespace

struct Ladder::Columns
{
    int rank = 0;                  ///< width of the ranks
    int label = 0;                 ///< width of a label
    int value = 0;                 ///< width of a number
    int bar = 0;                   ///< width of a full bar; 0: no room for bars
    int lines = 0;                 ///< width of the gap between the sides
    int reference = 0, target = 0; ///< where each side begins
};

Ladder::Ladder(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
{
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

void Ladder::setHeads(const QString& rank, const QStringList& notes)
{
    m_rankHead = rank;
    m_notes = notes;
    update();
}

void Ladder::setEntries(std::vector<LadderEntry> entries, int ranks, int valueDigits)
{
    m_entries = std::move(entries);
    m_ranks = ranks;
    m_digits = valueDigits;
    m_low = std::numeric_limits<double>::infinity();
    m_high = -std::numeric_limits<double>::infinity();
    QStringList words;
    for (const LadderEntry& entry : m_entries) {
        for (const bool target : {false, true}) {
            const double value = valueOf(entry, target);
            if (rankOf(entry, target) < 0 || !std::isfinite(value))
                continue;
            m_low = std::min(m_low, value);
            m_high = std::max(m_high, value);
        }
        words.append(QStringLiteral("%1 %2→%3")
                         .arg(entry.label)
                         .arg(entry.referenceRank + 1)
                         .arg(entry.targetRank + 1));
    }
    // The last bar keeps a fifth of the span, so that it is still seen.
    constexpr double rest = 0.25;
    m_low -= (m_high - m_low) * rest;
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

QSize Ladder::sizeHint() const
{
    return {640, headHeight + m_ranks * rowHeight + 2 * Look::gap};
}

QSize Ladder::minimumSizeHint() const
{
    constexpr int leastRanks = 5;
    constexpr int leastWidth = 280;
    return {leastWidth, headHeight + std::min(m_ranks, leastRanks) * rowHeight + 2 * Look::gap};
}

int Ladder::shownRanks() const
{
    return std::min(m_ranks, std::max(0, height() - headHeight - Look::gap) / rowHeight);
}

Ladder::Columns Ladder::columns() const
{
    const QFont mono = m_look.font(TextRole::Mono);
    int widest = 48;
    for (const LadderEntry& entry : m_entries)
        widest = std::max(widest, paint::widthOf(mono, entry.label));
    Columns at;
    at.label = std::min(widest, mostLabel) + Look::inset;
    const QFont small = m_look.font(TextRole::MonoSmall);
    for (const LadderEntry& entry : m_entries)
        for (const bool target : {false, true})
            at.value = std::max(at.value, paint::widthOf(small, valueText(entry, target)));
    const bool narrow = width() < narrowWidth;
    at.value += narrow ? Look::step : Look::inset;
    at.rank = narrow ? narrowRank : roomyRank;
    const int room = width() - 2 * Look::inset - at.rank - 2 * at.value;
    at.lines = std::clamp((room - 2 * at.label) / 4, leastLines, mostLines);
    at.label = std::min(at.label, std::max(leastLabel, (room - at.lines) / 2));
    at.bar = std::min((room - at.lines) / 2 - at.label, mostBar);
    if (at.bar < leastBar)
        at.bar = 0;
    at.reference = Look::inset + at.rank;
    at.target = at.reference + at.label + at.bar + at.value + at.lines;
    return at;
}

const LadderEntry* Ladder::entryAt(int rank, bool target) const
{
    for (const LadderEntry& entry : m_entries)
        if (rankOf(entry, target) == rank)
            return &entry;
    return nullptr;
}

QString Ladder::valueText(const LadderEntry& entry, bool target) const
{
    const int rank = rankOf(entry, target);
    const LadderEntry* next = rank < 0 ? nullptr : entryAt(rank + 1, target);
    const bool tied = next != nullptr && valueOf(*next, target) == valueOf(entry, target);
    return textOfNumber(valueOf(entry, target), m_digits)
           + (tied ? QStringLiteral(" =") : QString());
}

double Ladder::barShare(double value) const
{
    if (!(m_high > m_low) || !std::isfinite(value))
        return std::isfinite(value) ? 1.0 : 0.0;
    return std::clamp((value - m_low) / (m_high - m_low), 0.0, 1.0);
}

void Ladder::paintSide(QPainter& painter, const Columns& at, bool target) const
{
    const Theme& theme = m_look.theme();
    const QColor colour = target ? theme.target : theme.reference;
    const int left = target ? at.target : at.reference;
    paint::text(painter, QRect(left, 0, at.label + at.bar + at.value, headHeight),
                Qt::AlignLeft | Qt::AlignVCenter,
                target ? QStringLiteral("target") : QStringLiteral("reference"),
                m_look.font(TextRole::Small), colour);
    for (int rank = 0; rank < shownRanks(); ++rank) {
        const LadderEntry* entry = entryAt(rank, target);
        if (entry == nullptr)
            continue;
        const int y = headHeight + rank * rowHeight;
        // Of "expert 12" the number is what tells one from another.
        const QFont mono = m_look.font(TextRole::Mono);
        const bool whole = paint::widthOf(mono, entry->label) <= at.label - Look::gap;
        paint::text(painter, QRect(left, y, at.label - Look::gap, rowHeight),
                    Qt::AlignLeft | Qt::AlignVCenter,
                    whole ? entry->label : entry->label.section(QLatin1Char(' '), -1), mono,
                    theme.ink);
        const double value = valueOf(*entry, target);
        int end = left + at.label;
        if (at.bar > 0) {
            const int bar = std::max(2, static_cast<int>(barShare(value) * at.bar));
            painter.setPen(Qt::NoPen);
            painter.setBrush(blended(colour, theme.panel, 0.8));
            painter.drawRoundedRect(QRectF(end, y + (rowHeight - barHeight) / 2.0, bar, barHeight),
                                    2, 2);
            end += bar + Look::gap;
        }
        paint::text(painter, QRect(end, y, at.value, rowHeight), Qt::AlignLeft | Qt::AlignVCenter,
                    valueText(*entry, target), m_look.font(TextRole::MonoSmall), theme.dim,
                    Qt::ElideNone);
    }
}

void Ladder::paintLines(QPainter& painter, const Columns& at) const
{
    const Theme& theme = m_look.theme();
    const int left = at.target - at.lines + Look::gap;
    const int right = at.target - Look::inset;
    const auto middle = [](int rank) { return headHeight + rank * rowHeight + rowHeight / 2; };
    const auto isShown = [this](int rank) { return rank >= 0 && rank < shownRanks(); };
    for (const LadderEntry& entry : m_entries) {
        const int from = entry.referenceRank;
        const int to = entry.targetRank;
        constexpr qreal lineWidth = 1.5;
        painter.setPen(QPen(from == to ? theme.line : theme.target, lineWidth));
        painter.setBrush(Qt::NoBrush);
        if (isShown(from) && isShown(to)) {
            QPainterPath path(QPointF(left, middle(from)));
            const qreal bend = (left + right) / 2.0;
            path.cubicTo(bend, middle(from), bend, middle(to), right, middle(to));
            painter.drawPath(path);
        } else if (isShown(from)) {
            paintEnd(painter, QRect(left, middle(from), right - left, 0), false,
                     to >= 0 ? QStringLiteral("→ %1").arg(to + 1)
                             : QStringLiteral("left the top %1").arg(m_ranks));
        } else if (isShown(to)) {
            paintEnd(painter, QRect(left, middle(to), right - left, 0), true,
                     from >= 0 ? QStringLiteral("%1 →").arg(from + 1) : QStringLiteral("new"));
        }
    }
}

void Ladder::paintEnd(QPainter& painter, const QRect& line, bool target, const QString& words) const
{
    const QFont font = m_look.font(TextRole::Small);
    // Both sides may have an end in the same line.
    if (2 * paint::widthOf(font, words) <= line.width()) {
        paint::text(painter, line.adjusted(0, -rowHeight / 2, 0, rowHeight / 2),
                    (target ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter, words, font,
                    m_look.theme().faint);
        return;
    }
    constexpr int stub = 8;
    const int x = target ? line.right() + 1 - stub : line.left();
    painter.drawLine(x, line.top(), x + stub, line.top());
}

void Ladder::paintEvent(QPaintEvent*)
{
    if (m_entries.empty())
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = m_look.theme();
    const Columns at = columns();
    paint::text(painter, QRect(Look::inset, 0, at.rank, headHeight),
                Qt::AlignLeft | Qt::AlignVCenter, m_rankHead, m_look.font(TextRole::Small),
                theme.dim);
    for (int rank = 0; rank < shownRanks(); ++rank)
        paint::text(painter,
                    QRect(Look::inset, headHeight + rank * rowHeight, rankRight, rowHeight),
                    Qt::AlignRight | Qt::AlignVCenter, QString::number(rank + 1),
                    m_look.font(TextRole::MonoSmall), theme.dim);
    paintLines(painter, at);
    paintSide(painter, at, false);
    paintSide(painter, at, true);
    paintNote(painter, at);
}

void Ladder::paintNote(QPainter& painter, const Columns& at) const
{
    const QFont font = m_look.font(TextRole::Small);
    const int left = at.target + headWord;
    const QRect room(left, 0, std::max(0, width() - Look::inset - left), headHeight);
    bool tied = false; // among what is seen
    for (int rank = 0; rank < shownRanks(); ++rank)
        for (const bool target : {false, true})
            if (const LadderEntry* entry = entryAt(rank, target))
                tied = tied || valueText(*entry, target).endsWith('=');
    QStringList notes;
    for (const QString& note : m_notes) {
        if (tied)
            notes.append(note + QStringLiteral(" · = tied with the next"));
        notes.append(note);
    }
    for (const QString& note : notes)
        if (paint::widthOf(font, note) <= room.width()) {
            paint::text(painter, room, Qt::AlignRight | Qt::AlignVCenter, note, font,
                        m_look.theme().dim, Qt::ElideNone);
            return;
        }
}

} // namespace moire::widgets
