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

namespace moire::widgets {

namespace {

constexpr int tokenHeight = 20;
constexpr int rowPitch = 26;
constexpr int topMargin = 8;
constexpr int padding = 4; // at both sides of a token's text
constexpr int spacing = 2; // between tokens
constexpr int leastWidth = 16;
constexpr int longestToken = 240; // pixels; longer ones are elided
constexpr int followMargin = 96;  // so much of the context stays in view beside the cursor
constexpr qreal tokenCorner = 3;

} // namespace

StripLayout::StripLayout(const SampleEntry& sample, const QFontMetrics& metrics)
{
    const auto widthOf = [&metrics](const std::vector<TokenCell>& tokens, std::size_t column) {
        return column < tokens.size() ? metrics.horizontalAdvance(tokens[column].text) : 0;
    };
    m_edges.push_back(0);
    for (std::size_t column = 0; column < sample.columns(); ++column) {
        const int text =
            std::max(widthOf(sample.referenceTokens, column), widthOf(sample.targetTokens, column));
        m_edges.push_back(m_edges.back() + std::clamp(text + 2 * padding, leastWidth, longestToken)
                          + spacing);
    }
}

std::size_t StripLayout::columnAt(int x) const
{
    if (x < 0)
        return columns();
    const auto after = std::upper_bound(m_edges.begin(), m_edges.end(), x);
    return after == m_edges.end() ? columns()
                                  : static_cast<std::size_t>(after - m_edges.begin()) - 1;
}

int StripLayout::offsetShowing(std::size_t column, int offset, int viewWidth) const
{
    if (column >= columns())
        return offset;
    const int margin = std::min(followMargin, viewWidth / 4);
    if (right(column) + margin > offset + viewWidth)
        offset = right(column) + margin - viewWidth;
    if (left(column) - margin < offset)
        offset = left(column) - margin;
    return std::clamp(offset, 0, std::max(0, width() - viewWidth));
}

TokenStrips::TokenStrips(const Look& look, Cursor& cursor, HeatSource& source, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_cursor(cursor)
    , m_source(source)
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
    return {480, topMargin + 2 * rowPitch + Look::step};
}

int TokenStrips::viewWidth() const
{
    return std::max(1, width() - gutter - Look::inset);
}

void TokenStrips::refresh()
{
    m_compared = m_cursor.compared();
    m_sample = m_cursor.sample();
    if (m_sample != nullptr && m_source.grid()) {
        m_scale = ColourScale(m_look.theme(), m_compared->range(m_source.measure()));
        m_hatch = Hatch(m_look.theme());
        m_cells = m_source.stripCells();
        m_layout = StripLayout(*m_sample, QFontMetrics(m_look.font(TextRole::Mono)));
    } else {
        m_layout = {};
        m_cells.clear();
    }
    follow();
}

void TokenStrips::follow()
{
    if (m_cursor.sample() == m_sample)
        m_offset = m_layout.offsetShowing(m_cursor.place().column, m_offset, viewWidth());
    update();
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
    paint::text(painter, QRect(Look::inset, y, gutter - Look::inset - Look::gap, tokenHeight),
                Qt::AlignRight | Qt::AlignVCenter,
                target ? QStringLiteral("Target") : QStringLiteral("Reference"),
                m_look.font(TextRole::Small), target ? theme.target : theme.reference);
    if (m_sample == nullptr)
        return;
    const auto& tokens = target ? m_sample->targetTokens : m_sample->referenceTokens;
    painter.save();
    painter.setClipRect(QRect(gutter, 0, viewWidth(), height()));
    painter.setRenderHint(QPainter::Antialiasing);
    const std::size_t first = m_layout.columnAt(m_offset);
    for (std::size_t column = first; column < m_layout.columns(); ++column) {
        const int x = gutter + m_layout.left(column) - m_offset;
        if (x > width())
            break;
        if (column >= tokens.size())
            continue;
        const QRect rect(x, y, m_layout.right(column) - m_layout.left(column) - spacing,
                         tokenHeight);
        const bool here = column == m_cursor.place().column;
        paintToken(painter, rect, tokens[column], column,
                   here ? (target ? theme.target : theme.reference) : QColor());
    }
    painter.restore();
}

void TokenStrips::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintRow(painter, false);
    paintRow(painter, true);
    // Text runs out of view softly where there is more of it.
    const Theme& theme = m_look.theme();
    constexpr int fade = 16;
    const auto fadeAt = [&](int x, bool leftwards) {
        QLinearGradient gradient(x, 0, x + fade, 0);
        QColor clear = theme.panel;
        clear.setAlpha(0);
        gradient.setColorAt(leftwards ? 0 : 1, theme.panel);
        gradient.setColorAt(leftwards ? 1 : 0, clear);
        painter.fillRect(x, topMargin - 2, fade, 2 * rowPitch, gradient);
    };
    if (m_offset > 0)
        fadeAt(gutter, true);
    if (m_layout.width() - m_offset > viewWidth())
        fadeAt(gutter + viewWidth() - fade, false);
}

std::size_t TokenStrips::columnAt(const QPoint& point) const
{
    if (point.x() < gutter)
        return m_layout.columns();
    return m_layout.columnAt(point.x() - gutter + m_offset);
}

void TokenStrips::mousePressEvent(QMouseEvent* event)
{
    const std::size_t column = columnAt(event->pos());
    if (event->button() == Qt::LeftButton && column < m_layout.columns())
        m_cursor.moveColumn(column);
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
    const std::size_t column = columnAt(help->pos());
    if (column >= m_layout.columns())
        return QWidget::event(event);
    QStringList lines{QStringLiteral("token %1").arg(column)};
    const auto describe = [&](const QString& side, const std::vector<TokenCell>& tokens) {
        if (column < tokens.size())
            lines.append(QStringLiteral("%1  %2  id %3  %4")
                             .arg(side, tokens[column].text)
                             .arg(tokens[column].id)
                             .arg(tokens[column].response ? QStringLiteral("response")
                                                          : QStringLiteral("prompt")));
    };
    describe(QStringLiteral("reference"), m_sample->referenceTokens);
    describe(QStringLiteral("target"), m_sample->targetTokens);
    if (column < m_cells.size())
        lines.append(nameOf(m_source.measure()) + QStringLiteral(": ")
                     + textOfCell(m_cells[column], m_source.measure()));
    QToolTip::showText(help->globalPos(), lines.join('\n'), this);
    return true;
}

} // namespace moire::widgets
