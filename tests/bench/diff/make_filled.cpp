// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/diff/filled_capture.h"

#include <cstdio>
#include <cstdlib>

/// make_filled PATH ROWS TAPS WIDTH NOISE: a capture of bf16 values of any size, see
/// filled_capture.h.
int main(int count, char** arguments)
{
    constexpr int wanted = 6;
    if (count != wanted) {
        std::fprintf(stderr, "make_filled PATH ROWS TAPS WIDTH NOISE\n");
        return 2;
    }
    moire::bench::FilledShape shape;
    shape.rows = std::strtoull(arguments[2], nullptr, 10);
    shape.taps = static_cast<std::uint32_t>(std::strtoul(arguments[3], nullptr, 10));
    shape.width = static_cast<std::uint32_t>(std::strtoul(arguments[4], nullptr, 10));
    const auto written =
        moire::bench::writeFilledCapture(arguments[1], shape, std::strtof(arguments[5], nullptr));
    if (!written)
        std::fprintf(stderr, "make_filled: %s\n", written.error().text().c_str());
    return written ? 0 : 2;
}
