// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/heat_source.h"

namespace moire::widgets {

namespace {

const Error cancelled{Errc::Cancelled, "cancelled", {}, {}};

Result<std::shared_ptr<const ValueGrids>> valuesOf(const Compared& compared, std::size_t sample,
                                                   std::stop_token stop)
{
    auto grids = std::make_shared<ValueGrids>();
    grids->reference = HeatGrid::ofValues(compared, sample, false, stop);
    grids->target = HeatGrid::ofValues(compared, sample, true, stop);
    if (stop.stop_requested())
        return cancelled;
    RangeFinder finder;
    for (const HeatGrid* grid : {&grids->reference, &grids->target})
        for (std::size_t row = 0; row < grid->rows(); ++row)
            for (std::size_t column = 0; column < grid->columns(); ++column)
                finder.add(static_cast<double>(grid->at(row, column)));
    grids->range = finder.range();
    return std::shared_ptr<const ValueGrids>(std::move(grids));
}

Result<std::vector<float>> overviewOf(const Compared& compared, HeatMeasure measure,
                                      std::stop_token stop)
{
    std::vector<float> cells;
    for (const SampleEntry& entry : compared.samples)
        for (std::size_t column = 0; column < entry.columns(); ++column) {
            if (stop.stop_requested())
                return cancelled;
            const auto row = entry.rowAt(column);
            float largest = row ? cell::notRecorded : entry.emptyCell(column);
            for (std::size_t tap = 0; row && tap < compared.report.tapPairs.size(); ++tap)
                largest = std::max(largest, cellOf(compared.report.site(*row, tap), measure));
            cells.push_back(largest);
        }
    return cells;
}

} // namespace

HeatSource::HeatSource(Cursor& cursor, QObject* parent)
    : QObject(parent)
    , m_cursor(cursor)
    , m_job(this)
    , m_valuesJob(this)
    , m_overviewJob(this)
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

void HeatSource::setShown(Shown shown)
{
    m_chosen = shown;
    refreshValues();
    Q_EMIT gridChanged();
}

void HeatSource::setBlinking(bool blinking)
{
    m_blinking = blinking;
    refreshValues();
    Q_EMIT gridChanged();
}

Shown HeatSource::wanted() const
{
    if (!m_blinking)
        return m_chosen;
    return m_chosen == Shown::Target ? Shown::Reference : Shown::Target;
}

bool HeatSource::isCurrent(const ComparedPointer& compared, std::size_t sample) const
{
    return compared && m_compared && compared->reference == m_compared->reference
           && compared->target == m_compared->target && sample == m_sample;
}

Shown HeatSource::shown() const
{
    return m_values && isCurrent(m_valuesOf.first, m_valuesOf.second) ? wanted()
                                                                      : Shown::Difference;
}

std::shared_ptr<const HeatGrid> HeatSource::grid() const
{
    switch (shown()) {
    case Shown::Reference:
        return {m_values, &m_values->reference};
    case Shown::Target:
        return {m_values, &m_values->target};
    case Shown::Difference:
        break;
    }
    return m_grid;
}

DecadeRange HeatSource::range() const
{
    if (shown() != Shown::Difference)
        return m_values->range;
    return m_compared ? m_compared->range(m_tapMeasure) : DecadeRange{};
}

void HeatSource::refresh()
{
    const ComparedPointer& compared = m_cursor.compared();
    const std::size_t sample = m_cursor.place().sample;
    if (!compared || sample >= compared->samples.size()) {
        m_job.cancel();
        m_valuesJob.cancel();
        m_overviewJob.cancel();
        m_compared.reset();
        m_grid.reset();
        m_overview.clear();
        Q_EMIT gridChanged();
        Q_EMIT overviewChanged();
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
                return cancelled;
            return std::shared_ptr<const HeatGrid>(std::move(grid));
        },
        [this, sample](Result<std::shared_ptr<const HeatGrid>> grid) {
            if (!grid)
                return;
            m_grid = *grid;
            m_sample = sample;
            refreshValues();
            Q_EMIT gridChanged();
        });
    refreshOverview();
}

void HeatSource::refreshValues()
{
    if (wanted() == Shown::Difference || !m_compared || m_sample >= m_compared->samples.size()
        || isCurrent(m_valuesOf.first, m_valuesOf.second))
        return;
    m_valuesOf = {m_compared, m_sample};
    m_values.reset();
    m_valuesJob.start([compared = m_compared, sample = m_sample](
                          std::stop_token stop) { return valuesOf(*compared, sample, stop); },
                      [this](Result<std::shared_ptr<const ValueGrids>> values) {
                          if (!values)
                              return;
                          m_values = *values;
                          Q_EMIT gridChanged();
                      });
}

void HeatSource::refreshOverview()
{
    if (m_overviewOf == std::pair(m_compared, m_tapMeasure))
        return;
    if (!m_overviewOf.first || m_overviewOf.first->reference != m_compared->reference) {
        m_overview.clear();
        Q_EMIT overviewChanged();
    }
    m_overviewOf = {m_compared, m_tapMeasure};
    m_overviewJob.start([compared = m_compared, measure = m_tapMeasure](
                            std::stop_token stop) { return overviewOf(*compared, measure, stop); },
                        [this](Result<std::vector<float>> cells) {
                            if (!cells)
                                return;
                            m_overview = std::move(*cells);
                            Q_EMIT overviewChanged();
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
