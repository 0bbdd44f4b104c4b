// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/output_place.h"

#include "core/base/file.h"

#include <cerrno>
#include <charconv>
#include <string>
#include <unistd.h>

namespace moire::report {

namespace fs = std::filesystem;

Result<fs::path> behindLinks(const fs::path& path)
{
    constexpr int mostLinks = 40; // as Linux has it
    fs::path at = path;
    std::error_code code;
    for (int followed = 0; followed <= mostLinks; ++followed) {
        if (!fs::is_symlink(at, code))
            return at;
        const fs::path next = fs::read_symlink(at, code);
        if (code)
            return base::systemError(code.value(), "cannot follow the link", path);
        at = next.is_absolute() ? next : at.parent_path() / next;
    }
    return base::systemError(ELOOP, "cannot follow the link", path);
}

std::optional<int> descriptorNamed(const fs::path& path)
{
    if (path == "/dev/stdout")
        return STDOUT_FILENO;
    if (path == "/dev/stderr")
        return STDERR_FILENO;
    const fs::path folder = path.parent_path();
    if (folder != "/dev/fd" && folder != "/proc/self/fd")
        return std::nullopt;
    const std::string name = path.filename().string();
    int number = -1;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number < 0)
        return std::nullopt;
    return number;
}

} // namespace moire::report
