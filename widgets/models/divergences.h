// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/report.h"

#include <QString>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace moire::widgets {

/// What counts as a divergence when one steps from one to the next.
enum class Criterion
{
    Bits, ///< a tap whose bits differ while those of the tap before it, at the same row, do not
    Tolerance, ///< likewise a tap that is beyond the tolerance in force
    TopOne,    ///< the best token differs
    TopFive,   ///< the set of the five best tokens differs
    Experts,   ///< a MoE layer's expert set differs
};
inline constexpr std::array allCriteria{Criterion::Bits, Criterion::Tolerance, Criterion::TopOne,
                                        Criterion::TopFive, Criterion::Experts};
QString nameOf(Criterion criterion);

/// A row pair and a tap pair of a report.
struct SitePlace
{
    std::size_t row = 0;
    std::size_t tap = 0;
    friend auto operator<=>(const SitePlace&, const SitePlace&) = default;
};

/// All divergences of a report in the order (row, tap), by criterion.
class Divergences
{
public:
    Divergences() = default;
    explicit Divergences(const diff::Report& report);

    const std::vector<SitePlace>& all(Criterion criterion) const
    {
        return m_places[static_cast<std::size_t>(criterion)];
    }
    std::optional<SitePlace> first(Criterion criterion) const;
    std::optional<SitePlace> last(Criterion criterion) const;
    /// The nearest one behind or before a place, which itself does not count.
    std::optional<SitePlace> next(Criterion criterion, SitePlace from) const;
    std::optional<SitePlace> previous(Criterion criterion, SitePlace from) const;

private:
    std::array<std::vector<SitePlace>, allCriteria.size()> m_places;
};

} // namespace moire::widgets
