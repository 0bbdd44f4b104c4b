// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/paint.h"

#include <QFontMetrics>
#include <QPolygonF>

#include <cmath>

namespace moire::widgets::paint {

namespace {

constexpr int chipPadding = 8;
constexpr qreal markRadius = 4.5;

void polygon(QPainter& painter, const QPolygonF& shape, const QColor& colour)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawPolygon(shape);
    painter.restore();
}

} // namespace

void card(QPainter& painter, const Theme& theme, const QRect& rect)
{
    constexpr qreal half = 0.5; // the pen's middle
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.line, 1));
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect).adjusted(half, half, -half, -half), Look::corner,
                            Look::corner);
    painter.restore();
}

int text(QPainter& painter, const QRect& rect, Qt::Alignment alignment, const QString& text,
         const QFont& font, const QColor& colour, Qt::TextElideMode elide)
{
    const QFontMetrics metrics(font);
    const QString shown = metrics.elidedText(text, elide, rect.width());
    const int wide = metrics.horizontalAdvance(shown);
    painter.setFont(font);
    painter.setPen(colour);
    if (!alignment.testFlag(Qt::AlignVCenter)) {
        painter.drawText(rect, static_cast<int>(alignment) | Qt::TextSingleLine, shown);
        return wide;
    }
    int x = rect.x();
    if (alignment.testFlag(Qt::AlignRight))
        x = rect.x() + rect.width() - wide;
    else if (alignment.testFlag(Qt::AlignHCenter))
        x = rect.x() + (rect.width() - wide) / 2;
    const int y =
        rect.y() + static_cast<int>(std::lround((rect.height() + metrics.capHeight()) / 2.0));
    painter.drawText(x, y, shown);
    return wide;
}

QFont fitted(QFont font, const QString& text, int width)
{
    while (font.pixelSize() > smallestPixels && widthOf(font, text) > width)
        font.setPixelSize(font.pixelSize() - 1);
    return font;
}

int widthOf(const QFont& font, const QString& text)
{
    return QFontMetrics(font).horizontalAdvance(text);
}

int chipWidth(const Look& look, const QString& text)
{
    return widthOf(look.font(TextRole::Small), text) + 2 * chipPadding;
}

int chip(QPainter& painter, const Look& look, const QPoint& topLeft, const QString& label,
         bool marked)
{
    const Theme& theme = look.theme();
    const QRect rect(topLeft, QSize(chipWidth(look, label), chipHeight));
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(marked ? theme.differGround : theme.chip);
    painter.drawRoundedRect(rect, chipHeight / 2.0, chipHeight / 2.0);
    painter.restore();
    QFont font = look.font(TextRole::Small);
    painter.setFont(font);
    painter.setPen(marked ? theme.differInk : theme.dim);
    painter.drawText(rect, Qt::AlignCenter | Qt::TextSingleLine, label);
    return rect.width();
}

void flipMark(QPainter& painter, const QPointF& centre, const QColor& colour)
{
    const qreal x = centre.x();
    const qreal y = centre.y();
    polygon(
        painter,
        {{x, y - markRadius}, {x + markRadius, y + markRadius}, {x - markRadius, y + markRadius}},
        colour);
}

void routeMark(QPainter& painter, const QPointF& centre, const QColor& colour)
{
    const qreal x = centre.x();
    const qreal y = centre.y();
    polygon(painter,
            {{x, y - markRadius}, {x + markRadius, y}, {x, y + markRadius}, {x - markRadius, y}},
            colour);
}

} // namespace moire::widgets::paint
