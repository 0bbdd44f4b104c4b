// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QPainter>
#include <QString>

/// The few shapes that the painted views share.
namespace moire::widgets::paint {

/// A panel's rounded ground with its thin edge.
void card(QPainter& painter, const Theme& theme, const QRect& rect);

/// Text on one line, elided at the right; returns its width. AlignVCenter centres the height of
/// capitals, so that fonts of different families share a baseline. Numbers are drawn with
/// Qt::ElideNone: a number without its last digits is another number.
int text(QPainter& painter, const QRect& rect, Qt::Alignment alignment, const QString& text,
         const QFont& font, const QColor& colour, Qt::TextElideMode elide = Qt::ElideRight);

/// Width of a line of text.
int widthOf(const QFont& font, const QString& text);

/// The font, made smaller until the text fits, at most down to `smallestPixels`.
QFont fitted(QFont font, const QString& text, int width);
inline constexpr int smallestPixels = 9;

/// A rounded label; returns its width. `marked`: in the colours of a differing field.
int chip(QPainter& painter, const Look& look, const QPoint& topLeft, const QString& text,
         bool marked);
int chipWidth(const Look& look, const QString& text);
inline constexpr int chipHeight = 20;

/// ▲ of a flip and ◆ of a route change, centred on a point.
void flipMark(QPainter& painter, const QPointF& centre, const QColor& colour);
void routeMark(QPainter& painter, const QPointF& centre, const QColor& colour);

} // namespace moire::widgets::paint
