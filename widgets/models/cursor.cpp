// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/cursor.h"

#include <algorithm>
#include <limits>

namespace moire::widgets {

namespace {

std::size_t clamped(std::size_t value, std::size_t size)
{
    return size == 0 ? 0 : std::min(value, size - 1);
}

} // namespace

void Cursor::setCompared(ComparedPointer compared)
{
    m_compared = std::move(compared);
    m_place = {};
    Q_EMIT moved();
}

void Cursor::refine(ComparedPointer compared)
{
    m_compared = std::move(compared);
    Q_EMIT moved();
}

void Cursor::moveTo(Place place)
{
    if (!m_compared || m_compared->samples.empty())
        return;
    place.sample = clamped(place.sample, m_compared->samples.size());
    place.column = clamped(place.column, m_compared->samples[place.sample].columns());
    place.tap = clamped(place.tap, m_compared->report.tapPairs.size());
    if (place == m_place)
        return;
    m_place = place;
    Q_EMIT moved();
}

void Cursor::moveTo(SitePlace site)
{
    if (!m_compared || site.row >= m_compared->report.rows.size())
        return;
    moveTo(Place{m_compared->sampleOfRow(site.row), m_compared->report.rows[site.row].position,
                 site.tap});
}

void Cursor::moveColumn(std::size_t column)
{
    moveTo(Place{m_place.sample, column, m_place.tap});
}

void Cursor::moveTap(std::size_t tap)
{
    moveTo(Place{m_place.sample, m_place.column, tap});
}

void Cursor::moveSample(std::size_t sample)
{
    if (!m_compared || sample >= m_compared->samples.size() || sample == m_place.sample)
        return;
    // A sample is entered where it first differs.
    const SampleEntry& entry = m_compared->samples[sample];
    const auto& places = m_compared->divergences.all(Criterion::Bits);
    const auto first = std::lower_bound(places.begin(), places.end(), SitePlace{entry.rowBegin, 0});
    if (first != places.end() && first->row < entry.rowEnd)
        moveTo(*first);
    else
        moveTo(Place{sample, 0, m_place.tap});
}

const SampleEntry* Cursor::sample() const
{
    if (!m_compared || m_place.sample >= m_compared->samples.size())
        return nullptr;
    return &m_compared->samples[m_place.sample];
}

std::optional<std::size_t> Cursor::rowPair() const
{
    const SampleEntry* entry = sample();
    return entry == nullptr ? std::nullopt : entry->rowAt(m_place.column);
}

SitePlace Cursor::sitePlace() const
{
    const SampleEntry* entry = sample();
    if (entry == nullptr)
        return {};
    if (const auto row = rowPair())
        return {*row, m_place.tap};
    // Between two rows: behind all sites of the last row before this position.
    std::size_t before = entry->rowBegin;
    for (std::size_t column = 0; column < m_place.column; ++column)
        if (const auto row = entry->rowAt(column))
            before = *row + 1;
    return before == 0 ? SitePlace{}
                       : SitePlace{before - 1, std::numeric_limits<std::size_t>::max()};
}

} // namespace moire::widgets
