// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/result.h"

#include <QImage>
#include <QPicture>
#include <QSize>

#include <string>

class QWidget;

namespace moire::gui {

/// What a widget shows, as pixels and as strokes, so that it can be encoded off the GUI thread.
struct Drawing
{
    QSize size;
    QImage pixels;
    QPicture strokes;
};

/// GUI thread.
Drawing drawingOf(QWidget& widget);

/// Invalid when `file`'s ending names no format of pictures: png, pdf, svg.
Result<void> checkPictureName(const QString& file);

/// The bytes of a file of the format that `file`'s ending names. Any thread. Errors: those of
/// checkPictureName(), Io when the encoder gives up.
Result<std::string> encoded(const Drawing& drawing, const QString& file);

} // namespace moire::gui
