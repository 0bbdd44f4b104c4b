// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/diff/report.h"
#include "core/diff/slot_pairing.h"
#include "core/numeric/element_pair.h"
#include "core/trace/run.h"

#include <cstdint>
#include <optional>

namespace moire::diff {

/// One row of a tap, held against its recorded digest: for whoever shows or hands on values without
/// comparing them. Errors: what the run says, NotFound below level full, Damaged.
Result<trace::ValueView> soundValues(const trace::Run& run, trace::TapIndex tap,
                                     trace::RowIndex row);

/// The values of one site in both runs, element by element, per-slot taps by expert. Valid as long
/// as the runs.
class SiteValues
{
public:
    /// Errors: those of soundValues().
    static Result<SiteValues> read(const trace::Run& reference, const trace::Run& target,
                                   RouterPairs routers, const RowPair& row, const TapPair& tap);

    /// Elements compared, numbered from 0: those of the slices, where the taps are cut.
    std::uint32_t width() const { return m_tap.width; }
    /// The number of such an element in the reference's whole tap.
    std::uint32_t referenceElement(std::uint32_t element) const
    {
        return m_tap.referenceOffset + element;
    }
    numeric::DType referenceType() const { return m_reference.dtype; }
    numeric::DType targetType() const { return m_target.dtype; }
    bool sameType() const { return m_reference.dtype == m_target.dtype; }
    /// True when the target's elements stand in another order or are not all there.
    bool bySlots() const { return m_slots.has_value(); }

    std::uint64_t referenceBits(std::uint32_t element) const;
    /// None where the target did not choose that element's expert.
    std::optional<std::uint64_t> targetBits(std::uint32_t element) const;
    double referenceValue(std::uint32_t element) const;
    std::optional<double> targetValue(std::uint32_t element) const;
    /// Bits differ (value, where the dtypes do), or there is no counterpart.
    bool differs(std::uint32_t element) const;
    /// target − reference, see numeric::elementDifference; none without a counterpart.
    std::optional<double> difference(std::uint32_t element) const;
    /// Calls `take(reference, target, difference)` with the values of every element that differs
    /// and has a counterpart, in order.
    template <class Take>
    void eachDifferent(Take take) const
    {
        for (std::uint32_t i = 0; i < width(); ++i) {
            const auto bits = targetBits(i);
            const std::uint64_t ours = referenceBits(i);
            if (!bits || (sameType() && *bits == ours))
                continue;
            take(numeric::toDouble(ours, m_reference.dtype),
                 numeric::toDouble(*bits, m_target.dtype),
                 numeric::elementDifference(ours, m_reference.dtype, *bits, m_target.dtype));
        }
    }
    /// Value classes differ, the sign of zero left out; false without a counterpart.
    bool classDiffers(std::uint32_t element) const;
    /// NaN, +Inf, −Inf or finite on one side only.
    bool finitenessDiffers(std::uint32_t element) const;

private:
    trace::ValueView m_reference, m_target;
    RowPair m_row;
    TapPair m_tap;
    std::optional<SlotPairing> m_slots;
};

} // namespace moire::diff
