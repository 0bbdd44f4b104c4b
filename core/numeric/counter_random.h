// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Random numbers that are a function of (seed, stream, place): any of them can be had without the
/// ones before, so results do not depend on threads or on the order of work.
namespace moire::numeric {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
/// (SC 2011): ten rounds over a 128-bit counter. Integer arithmetic only: the same everywhere.
constexpr PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key)
{
    constexpr int rounds = 10;
    constexpr std::uint64_t firstFactor = 0xD2511F53;
    constexpr std::uint64_t secondFactor = 0xCD9E8D57;
    constexpr std::uint32_t firstWeyl = 0x9E3779B9;
    constexpr std::uint32_t secondWeyl = 0xBB67AE85;
    constexpr unsigned half = 32;
    for (int round = 0; round < rounds; ++round) {
        const std::uint64_t a = firstFactor * counter[0];
        const std::uint64_t b = secondFactor * counter[2];
        counter = {static_cast<std::uint32_t>(b >> half) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> half) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(a)};
        key[0] += firstWeyl;
        key[1] += secondWeyl;
    }
    return counter;
}

/// One stream of a seed: its numbers in order. Streams of one seed never overlap (each has 2⁶⁶
/// numbers).
class CounterRandom
{
public:
    CounterRandom(std::uint64_t seed, std::uint64_t stream)
        : m_key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}
        , m_counter{0, 0, static_cast<std::uint32_t>(stream),
                    static_cast<std::uint32_t>(stream >> 32U)}
    {}

    /// Uniform over all 32-bit words.
    std::uint32_t next()
    {
        if (m_used == m_block.size()) {
            m_block = philox(m_counter, m_key);
            m_used = 0;
            if (++m_counter[0] == 0)
                ++m_counter[1];
        }
        return m_block[m_used++];
    }
    /// Uniform over 0 … bound − 1, bound > 0: word · bound / 2³², whose bias is below bound / 2³².
    std::uint32_t below(std::uint32_t bound)
    {
        return static_cast<std::uint32_t>((std::uint64_t{next()} * bound) >> 32U);
    }

private:
    PhiloxKey m_key;
    PhiloxBlock m_counter;
    PhiloxBlock m_block{};
    std::size_t m_used = 4;
};

} // namespace moire::numeric
