// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QVector>
#include <QWidget>

#include <optional>

class QCPAxis;
class QCPBars;
class QCPGraph;
class QCPItemStraightLine;
class QCustomPlot;

namespace moire::widgets {

/// A measure by token position on a log axis, with marks and the cursor's line. A click chooses a
/// position.
class PositionPlot : public QWidget
{
    Q_OBJECT
public:
    explicit PositionPlot(const Look& look, QWidget* parent = nullptr);

    struct Series
    {
        QVector<double> positions;
        QVector<double> values; ///< > 0; zero and unknown are left out
        QVector<double> marks;  ///< positions of flips
        double end = 1;         ///< one past the last position
    };
    void setSeries(const Series& series, const QString& unit);
    void setCursorPosition(std::optional<double> position);

Q_SIGNALS:
    void positionChosen(std::size_t position);

private:
    void restyle();
    void styleAxis(QCPAxis* axis) const;

    const Look& m_look;
    QCustomPlot* m_plot;
    QCPGraph* m_values;
    QCPGraph* m_marks;
    QCPItemStraightLine* m_cursor;
};

} // namespace moire::widgets
