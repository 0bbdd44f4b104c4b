// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/digest.h"

#include <cstdint>

namespace moire::fuzz {

/// SplitMix64, so that a failing number can be run again.
class Bits
{
public:
    explicit Bits(std::uint64_t seed)
        : m_state(seed)
    {}
    std::uint64_t next() { return numeric::mix64(m_state += numeric::digestStep); }
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }

private:
    std::uint64_t m_state;
};

} // namespace moire::fuzz
