// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

// The only include of QCustomPlot, for .cpp files of this folder. QCustomPlot 2.1 spells Qt's
// keywords; we build with QT_NO_KEYWORDS and QT_NO_FOREACH.
#include <utility>
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach(var, container) for (var : std::as_const(container))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <qcustomplot.h>
#pragma GCC diagnostic pop
#undef foreach
#undef slots
#undef signals
