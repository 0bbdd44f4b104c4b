// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>

/// Which powers of ten a map of differences spans. The page and the window ask the same question
/// and get the same answer.
namespace moire::report {

/// Whole decades that hold all sizes of a measure.
struct DecadeRange
{
    int low = -7;
    int high = -1;
    friend bool operator==(const DecadeRange&, const DecadeRange&) = default;
};

/// Finds the decades in which sizes lie, but for the smallest: at most one in fifty, which then
/// have the first colour, so that a few of them do not press all others into one. What is not
/// finite, or too small for a normal float, does not count. At most `maxDecades` wide.
class RangeFinder
{
public:
    void add(double size);
    DecadeRange range() const;

private:
    static constexpr int maxDecades = 12;
    static constexpr int lowest = -38; ///< decade of the smallest normal float
    static constexpr int highest = 39; ///< of the largest; what is beyond joins it
    std::array<std::uint64_t, highest - lowest + 1> m_counts{};
    std::uint64_t m_total = 0;
};

/// "1e-4"; "1" for 10⁰.
std::string decadeText(int decade);

} // namespace moire::report
