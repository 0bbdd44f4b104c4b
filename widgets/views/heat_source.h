// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/jobs/latest_job.h"
#include "widgets/models/cursor.h"
#include "widgets/models/heat_grid.h"

#include <QObject>

#include <memory>

namespace moire::widgets {

/// The grid of the cursor's sample under the chosen measure, made off the GUI thread, for the
/// strips and the heat map. Until a new one is there the last one stands.
class HeatSource : public QObject
{
    Q_OBJECT
public:
    explicit HeatSource(Cursor& cursor, QObject* parent = nullptr);

    void setMeasure(HeatMeasure measure);
    HeatMeasure measure() const { return m_measure; }
    /// The measure of the heat map: the last chosen one that taps have (KL is of rows only).
    HeatMeasure tapMeasure() const { return m_tapMeasure; }

    /// Null before the first. Of sample `sample()`.
    const std::shared_ptr<const HeatGrid>& grid() const { return m_grid; }
    std::size_t sample() const { return m_sample; }
    /// Per token position what the strips are coloured by.
    std::vector<float> stripCells() const;
    bool isPending() const { return m_job.isPending(); }

Q_SIGNALS:
    void gridChanged();
    void measureChanged();

private:
    void refresh();

    Cursor& m_cursor;
    LatestJob m_job;
    ComparedPointer m_compared; ///< what the grid is or will be of
    std::size_t m_wanted = 0;
    std::size_t m_sample = 0;
    HeatMeasure m_wantedMeasure = HeatMeasure::RelativeL2;
    HeatMeasure m_measure = HeatMeasure::RelativeL2;
    HeatMeasure m_tapMeasure = HeatMeasure::RelativeL2;
    std::shared_ptr<const HeatGrid> m_grid;
};

} // namespace moire::widgets
