// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/random_text.h"

#include <array>
#include <cstdio>
#include <random>

namespace moire::wire {

std::string randomText()
{
    std::random_device device;
    std::array<char, 33> text{};
    std::snprintf(text.data(), text.size(), "%08x%08x%08x%08x", device(), device(), device(),
                  device());
    return text.data();
}

} // namespace moire::wire
