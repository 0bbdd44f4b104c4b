// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/jobs/latest_job.h"
#include "widgets/models/cursor.h"
#include "widgets/models/heat_grid.h"

#include <QObject>

#include <array>
#include <memory>

namespace moire::widgets {

/// What of the two runs a map shows.
enum class Shown
{
    Difference,
    Reference,
    Target
};
inline constexpr std::array allShown{Shown::Difference, Shown::Reference, Shown::Target};

/// Both runs' own values of a sample, on one scale.
struct ValueGrids
{
    HeatGrid reference, target;
    DecadeRange range;
};

/// The grids of the cursor's sample, made off the GUI thread, for the strips and the maps: the
/// difference under the chosen measure, each run's own values, and the largest difference at each
/// token of all samples. Until a new one is there the last one stands.
class HeatSource : public QObject
{
    Q_OBJECT
public:
    explicit HeatSource(Cursor& cursor, QObject* parent = nullptr);

    void setMeasure(HeatMeasure measure);
    HeatMeasure measure() const { return m_measure; }
    /// The measure of the heat map: the last chosen one that taps have (KL is of rows only).
    HeatMeasure tapMeasure() const { return m_tapMeasure; }

    void setShown(Shown shown);
    /// While it blinks the other run is shown in place of the chosen one: the target for the
    /// reference and the difference, the reference for the target.
    void setBlinking(bool blinking);
    /// What grid() is of: what was chosen, or the difference while that is on its way.
    Shown shown() const;

    /// Null before the first. Of sample `sample()`.
    std::shared_ptr<const HeatGrid> grid() const;
    /// The difference, whatever is shown.
    const std::shared_ptr<const HeatGrid>& difference() const { return m_grid; }
    /// The decades of grid().
    DecadeRange range() const;
    std::size_t sample() const { return m_sample; }
    /// Per token position what the strips are coloured by.
    std::vector<float> stripCells() const;
    /// The largest tap cell of each column of each sample, one sample after the other; may be
    /// empty: on its way.
    const std::vector<float>& overview() const { return m_overview; }
    bool isPending() const
    {
        return m_job.isPending() || m_valuesJob.isPending() || m_overviewJob.isPending();
    }

Q_SIGNALS:
    void gridChanged();
    void measureChanged();
    void overviewChanged();

private:
    void refresh();
    void refreshValues();
    void refreshOverview();
    Shown wanted() const;
    bool isCurrent(const ComparedPointer& compared, std::size_t sample) const;

    Cursor& m_cursor;
    LatestJob m_job;
    LatestJob m_valuesJob;
    LatestJob m_overviewJob;
    ComparedPointer m_compared; ///< what the grid is or will be of
    std::size_t m_wanted = 0;
    std::size_t m_sample = 0;
    HeatMeasure m_wantedMeasure = HeatMeasure::RelativeL2;
    HeatMeasure m_measure = HeatMeasure::RelativeL2;
    HeatMeasure m_tapMeasure = HeatMeasure::RelativeL2;
    Shown m_chosen = Shown::Difference;
    bool m_blinking = false;
    std::shared_ptr<const HeatGrid> m_grid;
    std::shared_ptr<const ValueGrids> m_values; ///< of m_valuesOf
    std::pair<ComparedPointer, std::size_t> m_valuesOf;
    std::vector<float> m_overview; ///< of m_overviewOf
    std::pair<ComparedPointer, HeatMeasure> m_overviewOf;
};

} // namespace moire::widgets
