// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/drawing.h"

#include <QBuffer>
#include <QFileInfo>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <QWidget>

namespace moire::gui {

namespace {

constexpr int dotsPerInch = 96;
constexpr double pointsPerInch = 72;

QString endingOf(const QString& file)
{
    return QFileInfo(file).suffix().toLower();
}

void play(const Drawing& drawing, QPaintDevice& device)
{
    QPainter painter(&device);
    painter.drawPicture(0, 0, drawing.strokes);
}

void writePdf(const Drawing& drawing, QBuffer& buffer)
{
    QPdfWriter pdf(&buffer);
    pdf.setTitle(QStringLiteral("Moire"));
    pdf.setResolution(dotsPerInch);
    pdf.setPageSize(QPageSize(QSizeF(drawing.size) * pointsPerInch / dotsPerInch, QPageSize::Point,
                              QString(), QPageSize::ExactMatch));
    pdf.setPageMargins({});
    play(drawing, pdf);
}

void writeSvg(const Drawing& drawing, QBuffer& buffer)
{
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setTitle(QStringLiteral("Moire"));
    svg.setResolution(dotsPerInch);
    svg.setSize(drawing.size);
    svg.setViewBox(QRect(QPoint(), drawing.size));
    play(drawing, svg);
}

} // namespace

Drawing drawingOf(QWidget& widget)
{
    Drawing drawing;
    drawing.size = widget.size();
    drawing.pixels = widget.grab().toImage();
    QPainter painter(&drawing.strokes);
    widget.render(&painter);
    painter.end();
    return drawing;
}

Result<void> checkPictureName(const QString& file)
{
    const QString ending = endingOf(file);
    if (ending == QLatin1String("png") || ending == QLatin1String("pdf")
        || ending == QLatin1String("svg"))
        return {};
    return Error{Errc::Invalid, "a picture ends in .png, .pdf or .svg", file.toStdString(),
                 "Give the file one of these endings"};
}

Result<std::string> encoded(const Drawing& drawing, const QString& file)
{
    if (auto named = checkPictureName(file); !named)
        return named.error();
    const QString ending = endingOf(file);
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    if (ending == QLatin1String("png"))
        drawing.pixels.save(&buffer, "PNG");
    else if (ending == QLatin1String("pdf"))
        writePdf(drawing, buffer);
    else
        writeSvg(drawing, buffer);
    if (buffer.data().isEmpty())
        return Error{Errc::Io, "the picture could not be made", file.toStdString(),
                     "Try another format: .png, .pdf or .svg"};
    return buffer.data().toStdString();
}

} // namespace moire::gui
