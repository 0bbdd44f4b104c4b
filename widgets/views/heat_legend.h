// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/views/heat_canvas.h"

class QPainter;

/// What the marks and colours of a HeatCanvas mean, below it. In as many lines as it needs: every
/// shape that can be seen is explained.
namespace moire::widgets::heatLegend {

/// Height in pixels for a content in a given width.
int height(const Look& look, const HeatContent& content, int width);

/// Into a rectangle of that height; the colour scale ends at `scaleRight` where it has room.
void paint(QPainter& painter, const Look& look, const HeatContent& content, const QRect& room,
           int scaleRight);

} // namespace moire::widgets::heatLegend
