// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/token_strips.h"

#include "widgets/views/paint.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace moire::widgets {

namespace {

constexpr int tokenHeight = 20;
constexpr int rowPitch = 26;
constexpr int topMargin = 8;
constexpr qreal tokenCorner = 3;
constexpr int padding = StripLayout::padding;
constexpr int spacing = StripLayout::spacing;
constexpr int laneHeight = 16; // between tokens and heat map

} // namespace

TokenStrips::TokenStrips(const Look& look, Cursor& cursor, HeatSource& source, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_cursor(cursor)
    , m_source(source)
    , m_widths(QFontMetrics(look.font(TextRole::Mono)))
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Token strips of reference and target"));
    connect(&cursor, &Cursor::moved, this, &TokenStrips::follow);
    connect(&source, &HeatSource::gridChanged, this, &TokenStrips::refresh);
    connect(&source, &HeatSource::measureChanged, this, &TokenStrips::refresh);
    connect(&look, &Look::changed, this, &TokenStrips::refresh);
}

QSize TokenStrips::sizeHint() const
{
    return {480, topMargin + 2 * rowPitch - (rowPitch - tokenHeight) + laneHeight};
}

int TokenStrips::viewWidth() const
{
    return std::max(1, width() - m_frame.left - Look::inset);
}

void TokenStrips::refresh()
{
    m_compared = m_cursor.compared();
    m_sample = m_cursor.sample();
    if (m_sample != nullptr && m_source.grid()) {
        m_scale = ColourScale(m_look.theme(), m_compared->range(m_source.measure()));
        m_hatch = Hatch(m_look.theme());
        m_cells = m_source.stripCells();
        m_layout = StripLayout(*m_sample, m_widths);
        m_layout.setLeastWidth(m_frame.width);
    } else {
        m_layout = {};
        m_cells.clear();
    }
    follow();
}

void TokenStrips::follow()
{
    if (m_cursor.sample() == m_sample) {
        const std::size_t column = m_cursor.place().column;
        const double x = m_frame.xOf(static_cast<double>(column) + 0.5) - m_frame.left;
        if (!m_pressing && x >= 0 && x <= viewWidth())
            m_offset = m_layout.offsetAligning(column, x, viewWidth());
        else
            m_offset = m_layout.offsetShowing(column, m_offset, viewWidth());
    }
    update();
}

void TokenStrips::setColumnFrame(const ColumnFrame& frame)
{
    const bool wider = frame.width != m_frame.width;
    m_frame = frame;
    if (wider)
        m_layout.setLeastWidth(frame.width);
    follow();
}

void TokenStrips::resizeEvent(QResizeEvent*)
{
    follow();
}

void TokenStrips::paintToken(QPainter& painter, const QRect& rect, const TokenCell& token,
                             std::size_t column, const QColor& edge) const
{
    const Theme& theme = m_look.theme();
    const float value = column < m_cells.size() ? m_cells[column] : cell::notRecorded;
    // The token at which the texts part is itself seen by no common row.
    const bool colourless = value < cell::equal || !token.comparable;
    painter.setPen(edge.isValid() ? QPen(edge, 2) : QPen(Qt::NoPen));
    if (colourless) {
        m_hatch.paint(painter, rect, value < cell::equal ? value : cell::notComparable);
        painter.setBrush(Qt::NoBrush);
    } else {
        painter.setBrush(m_scale.colour(value));
    }
    constexpr qreal half = 0.5;
    const qreal inner = edge.isValid() ? 1.0 : 0.0;
    painter.drawRoundedRect(
        QRectF(rect).adjusted(inner - half, inner - half, half - inner, half - inner), tokenCorner,
        tokenCorner);
    const QColor ink =
        colourless ? (token.comparable ? theme.ink : theme.faint) : m_scale.inkOn(value);
    paint::text(painter, rect.adjusted(padding, 0, -padding + 1, 0),
                Qt::AlignVCenter | Qt::AlignLeft, token.text, m_look.font(TextRole::Mono), ink);
}

void TokenStrips::paintRow(QPainter& painter, bool target) const
{
    const Theme& theme = m_look.theme();
    const int y = topMargin + (target ? rowPitch : 0);
    paint::text(painter, QRect(Look::inset, y, m_frame.left - Look::inset - Look::gap, tokenHeight),
                Qt::AlignRight | Qt::AlignVCenter,
                target ? QStringLiteral("Target") : QStringLiteral("Reference"),
                m_look.font(TextRole::Small), target ? theme.target : theme.reference);
    if (m_sample == nullptr)
        return;
    const auto& tokens = target ? m_sample->targetTokens : m_sample->referenceTokens;
    painter.save();
    painter.setClipRect(QRect(m_frame.left, 0, viewWidth(), height()));
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = m_layout.slotAt(m_offset); i < m_layout.size(); ++i) {
        const int x = xOf(i);
        if (x > width())
            break;
        const StripSlot& slot = m_layout.slot(i);
        const std::int32_t token = target ? slot.target : slot.reference;
        const QRect rect(x, y, m_layout.right(i) - m_layout.left(i) - spacing, tokenHeight);
        if (token < 0) {
            paintGap(painter, rect);
            continue;
        }
        const bool here = m_layout.slotOf(m_cursor.place().column) == i;
        paintToken(painter, rect, tokens[static_cast<std::size_t>(token)],
                   static_cast<std::size_t>(token),
                   here ? (target ? theme.target : theme.reference) : QColor());
        // Equal again, though never comparable: a line joins the two.
        if (slot.realigned && !target)
            painter.fillRect(QRect(rect.x() + padding, rect.bottom() + 2,
                                   rect.width() - 2 * padding, rowPitch - tokenHeight - 3),
                             theme.line);
    }
    painter.restore();
}

void TokenStrips::paintGap(QPainter& painter, const QRect& rect) const
{
    painter.setPen(QPen(m_look.theme().line, 1, Qt::DotLine));
    const int y = rect.center().y();
    painter.drawLine(rect.left() + padding, y, rect.right() - padding, y);
}

void TokenStrips::paintLane(QPainter& painter) const
{
    const std::size_t slot = m_layout.slotOf(m_cursor.place().column);
    if (m_layout.size() == 0 || slot >= m_layout.size())
        return;
    const Theme& theme = m_look.theme();
    const qreal top = topMargin + rowPitch + tokenHeight + 1;
    const qreal bottom = height();
    const int right = m_frame.left + viewWidth();
    // The part of the map whose tokens are in view.
    const std::size_t first = m_layout.slotAt(std::max(0, m_offset));
    const std::size_t last = std::min(m_layout.slotAt(m_offset + viewWidth()), m_layout.size() - 1);
    const auto column = [this](std::size_t i) { return static_cast<double>(m_layout.columnOf(i)); };
    const auto inside = [this](qreal x) {
        return std::clamp(x, qreal(m_frame.left), qreal(m_frame.right));
    };
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.chip);
    painter.drawPolygon(QPolygonF{
        {qreal(std::max(xOf(first), m_frame.left)), top},
        {qreal(std::min(xOf(last) + m_layout.right(last) - m_layout.left(last), right)), top},
        {inside(m_frame.xOf(column(last) + 1)), bottom},
        {inside(m_frame.xOf(column(first))), bottom}});
    const qreal x = m_frame.xOf(column(slot));
    if (x >= m_frame.left - 1 && x <= m_frame.right && xOf(slot) < right
        && xOf(slot) + 1 >= m_frame.left) {
        const qreal wide = m_layout.right(slot) - m_layout.left(slot) - spacing;
        painter.setBrush(blended(theme.ink, theme.panel, 0.25));
        painter.drawPolygon(QPolygonF{{qreal(xOf(slot)), top},
                                      {std::min(xOf(slot) + wide, qreal(right)), top},
                                      {std::max(x + m_frame.width, x + 2), bottom},
                                      {x, bottom}});
    }
    painter.restore();
}

void TokenStrips::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintLane(painter);
    paintRow(painter, false);
    paintRow(painter, true);
    paintFades(painter);
}

void TokenStrips::paintFades(QPainter& painter) const
{
    // Text runs out of view softly where there is more of it; the cursor's token is read whole.
    const Theme& theme = m_look.theme();
    constexpr int fade = 16;
    const auto fadeAt = [&](int x, bool leftwards) {
        QLinearGradient gradient(x, 0, x + fade, 0);
        QColor clear = theme.panel;
        clear.setAlpha(0);
        gradient.setColorAt(leftwards ? 0 : 1, theme.panel);
        gradient.setColorAt(leftwards ? 1 : 0, clear);
        painter.fillRect(x, topMargin - 2, fade, rowPitch + tokenHeight + 4, gradient);
    };
    const std::size_t slot = m_layout.slotOf(m_cursor.place().column);
    const bool known = slot < m_layout.size();
    const int end = m_offset + viewWidth();
    if (m_offset > 0 && !(known && m_layout.left(slot) < m_offset + fade))
        fadeAt(m_frame.left, true);
    if (m_layout.width() > end && !(known && m_layout.right(slot) > end - fade))
        fadeAt(m_frame.left + viewWidth() - fade, false);
}

std::size_t TokenStrips::slotAt(const QPoint& point) const
{
    if (point.x() < m_frame.left)
        return m_layout.size();
    return m_layout.slotAt(point.x() - m_frame.left + m_offset);
}

void TokenStrips::mousePressEvent(QMouseEvent* event)
{
    const std::size_t slot = slotAt(event->pos());
    if (event->button() != Qt::LeftButton || slot >= m_layout.size())
        return;
    m_pressing = true;
    m_cursor.moveColumn(m_layout.columnOf(slot));
    m_pressing = false;
}

void TokenStrips::wheelEvent(QWheelEvent* event)
{
    const QPoint delta = event->angleDelta();
    const int along = std::abs(delta.x()) > std::abs(delta.y()) ? delta.x() : delta.y();
    m_offset = std::clamp(m_offset - along, 0, std::max(0, m_layout.width() - viewWidth()));
    event->accept();
    update();
}

bool TokenStrips::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip || m_sample == nullptr)
        return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const std::size_t slot = slotAt(help->pos());
    if (slot >= m_layout.size())
        return QWidget::event(event);
    const std::size_t column = m_layout.columnOf(slot);
    QStringList lines;
    const auto describe = [&](const QString& side, const std::vector<TokenCell>& tokens,
                              std::int32_t place) {
        if (place < 0) {
            lines.append(side + QStringLiteral("  –"));
            return;
        }
        const TokenCell& token = tokens[static_cast<std::size_t>(place)];
        lines.append(
            QStringLiteral("%1  position %2  %3  id %4  %5")
                .arg(side)
                .arg(place)
                .arg(token.text)
                .arg(token.id)
                .arg(token.response ? QStringLiteral("response") : QStringLiteral("prompt")));
    };
    describe(QStringLiteral("reference"), m_sample->referenceTokens, m_layout.slot(slot).reference);
    describe(QStringLiteral("target"), m_sample->targetTokens, m_layout.slot(slot).target);
    if (m_layout.slot(slot).realigned)
        lines.append(QStringLiteral("the same text again; what came before differs"));
    if (column < m_cells.size())
        lines.append(nameOf(m_source.measure()) + QStringLiteral(": ")
                     + textOfCell(m_cells[column], m_source.measure()));
    QToolTip::showText(help->globalPos(), lines.join('\n'), this);
    return true;
}

} // namespace moire::widgets
