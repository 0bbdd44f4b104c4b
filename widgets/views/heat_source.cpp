// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/heat_source.h"

namespace moire::widgets {

HeatSource::HeatSource(Cursor& cursor, QObject* parent)
    : QObject(parent)
    , m_cursor(cursor)
    , m_job(this)
{
    connect(&cursor, &Cursor::moved, this, &HeatSource::refresh);
}

void HeatSource::setMeasure(HeatMeasure measure)
{
    if (measure == m_measure)
        return;
    m_measure = measure;
    if (measure != HeatMeasure::Kl)
        m_tapMeasure = measure;
    Q_EMIT measureChanged();
    refresh();
}

void HeatSource::refresh()
{
    const ComparedPointer& compared = m_cursor.compared();
    const std::size_t sample = m_cursor.place().sample;
    if (!compared || sample >= compared->samples.size()) {
        m_job.cancel();
        m_compared.reset();
        m_grid.reset();
        Q_EMIT gridChanged();
        return;
    }
    if (compared == m_compared && sample == m_wanted && m_tapMeasure == m_wantedMeasure)
        return;
    // A coarser picture of the same runs stays until the finer one is there.
    if (!m_compared || compared->reference != m_compared->reference
        || compared->target != m_compared->target)
        m_grid.reset();
    m_compared = compared;
    m_wanted = sample;
    m_wantedMeasure = m_tapMeasure;
    m_job.start(
        [compared, sample,
         measure = m_tapMeasure](std::stop_token stop) -> Result<std::shared_ptr<const HeatGrid>> {
            auto grid = std::make_shared<const HeatGrid>(
                HeatGrid::ofTaps(*compared, sample, measure, stop));
            if (stop.stop_requested())
                return Error{Errc::Cancelled, "cancelled", {}, {}};
            return std::shared_ptr<const HeatGrid>(std::move(grid));
        },
        [this, sample](Result<std::shared_ptr<const HeatGrid>> grid) {
            if (!grid)
                return;
            m_grid = *grid;
            m_sample = sample;
            Q_EMIT gridChanged();
        });
}

std::vector<float> HeatSource::stripCells() const
{
    if (!m_grid || !m_compared || m_sample >= m_compared->samples.size())
        return {};
    return m_measure == HeatMeasure::Kl ? m_compared->samples[m_sample].klCells
                                        : m_grid->columnMaxima();
}

} // namespace moire::widgets
