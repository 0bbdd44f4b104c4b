// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/process_memory.h"

#include <fstream>
#include <string>
#include <unistd.h>

namespace moire::capture {

std::uint64_t residentBytes()
{
    std::ifstream file("/proc/self/statm");
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    if (!(file >> total >> resident))
        return 0;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool isMemoryShort()
{
    constexpr std::uint64_t share = 10;
    std::ifstream file("/proc/meminfo");
    std::uint64_t total = 0;
    std::string key;
    std::uint64_t value = 0;
    std::string unit;
    while (file >> key >> value) {
        std::getline(file, unit);
        if (key == "MemTotal:")
            total = value;
        else if (key == "MemAvailable:")
            return value < total / share;
    }
    return false;
}

} // namespace moire::capture
