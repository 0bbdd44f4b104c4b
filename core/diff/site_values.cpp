// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/site_values.h"

#include "core/numeric/digest.h"

#include <cmath>
#include <string>
#include <utility>

namespace moire::diff {

Result<trace::ValueView> soundValues(const trace::Run& run, trace::TapIndex tap,
                                     trace::RowIndex row)
{
    auto values = run.values(tap, row, row + 1);
    if (!values)
        return values.error();
    if (numeric::rowDigest(values->row(row), values->dtype, values->width)
        != run.digests(row)[indexOf(tap)])
        return Error{Errc::Damaged,
                     "the values of row " + std::to_string(row) + " of "
                         + run.header().taps[indexOf(tap)].name
                         + " contradict their recorded digest",
                     run.source(), "Record it again; moire-diff verify lists all that is damaged"};
    return values;
}

Result<SiteValues> SiteValues::read(const trace::Run& reference, const trace::Run& target,
                                    RouterPairs routers, const RowPair& row, const TapPair& tap)
{
    auto ours = soundValues(reference, tap.reference, row.reference);
    if (!ours)
        return ours.error();
    auto theirs = soundValues(target, tap.target, row.target);
    if (!theirs)
        return theirs.error();
    auto slots = pairSlots(reference, target, routers, row, tap);
    if (!slots)
        return slots.error();
    SiteValues values;
    values.m_reference = *ours;
    values.m_target = *theirs;
    values.m_row = row;
    values.m_tap = tap;
    values.m_slots = std::move(*slots);
    return values;
}

std::uint64_t SiteValues::referenceBits(std::uint32_t element) const
{
    return numeric::bitsAt(m_reference.row(m_row.reference), m_reference.dtype,
                           m_tap.referenceOffset + element);
}

std::optional<std::uint64_t> SiteValues::targetBits(std::uint32_t element) const
{
    const auto place = m_slots ? m_slots->targetElement(element) : std::optional(element);
    if (!place)
        return std::nullopt;
    return numeric::bitsAt(m_target.row(m_row.target), m_target.dtype, m_tap.targetOffset + *place);
}

double SiteValues::referenceValue(std::uint32_t element) const
{
    return numeric::toDouble(referenceBits(element), m_reference.dtype);
}

std::optional<double> SiteValues::targetValue(std::uint32_t element) const
{
    const auto bits = targetBits(element);
    return bits ? std::optional(numeric::toDouble(*bits, m_target.dtype)) : std::nullopt;
}

std::optional<double> SiteValues::difference(std::uint32_t element) const
{
    const auto bits = targetBits(element);
    return bits ? std::optional(numeric::elementDifference(
               referenceBits(element), m_reference.dtype, *bits, m_target.dtype))
                : std::nullopt;
}

bool SiteValues::differs(std::uint32_t element) const
{
    const auto bits = targetBits(element);
    if (!bits)
        return true;
    if (sameType())
        return *bits != referenceBits(element);
    const double r = referenceValue(element);
    const double t = numeric::toDouble(*bits, m_target.dtype);
    const bool alike = r == t && (*difference(element) == 0 || !std::isfinite(r));
    return !(alike || (std::isnan(r) && std::isnan(t)));
}

bool SiteValues::classDiffers(std::uint32_t element) const
{
    const auto bits = targetBits(element);
    return bits && differs(element)
           && numeric::classOf(referenceBits(element), m_reference.dtype)
                  != numeric::classOf(*bits, m_target.dtype);
}

bool SiteValues::finitenessDiffers(std::uint32_t element) const
{
    const auto t = targetValue(element);
    if (!t)
        return false;
    const double r = referenceValue(element);
    const bool bothFinite = std::isfinite(r) && std::isfinite(*t);
    return !bothFinite && !(std::isnan(r) && std::isnan(*t)) && !(r == *t);
}

} // namespace moire::diff
