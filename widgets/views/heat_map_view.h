// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/views/heat_canvas.h"
#include "widgets/views/heat_source.h"

#include <QWidget>

namespace moire::widgets {

/// Tap × token map of the cursor's sample.
class HeatMapView : public QWidget
{
    Q_OBJECT
public:
    HeatMapView(const Look& look, Cursor& cursor, HeatSource& source, QWidget* parent = nullptr);
    HeatCanvas& canvas() { return *m_canvas; }
    /// "relative L2, log scale · 210 taps · 54 tokens".
    QString title() const;
    QString note() const;
    /// Brings the cursor into view.
    void follow();

Q_SIGNALS:
    void titleChanged();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void refresh();
    /// The words of the legend.
    void fillWords(HeatContent& content) const;

    const Look& m_look;
    Cursor& m_cursor;
    HeatSource& m_source;
    HeatCanvas* m_canvas;
};

/// "layers.3.mlp.down_proj" for "model.layers.3.mlp.down_proj.out".
QString shortTapName(const std::string& name);

/// What the cells of a map are: "relative L2", "RMS of the target".
QString quantityOf(Shown shown, HeatMeasure measure);

/// What the legend calls cells that differ by an unknown size.
QString unsizedWords(const Compared& compared);

/// Ticks at the first rows of layers, and the rows at which a new layer begins.
void fillLayers(const std::vector<std::int32_t>& layerOfRow, HeatContent& content);

} // namespace moire::widgets
