// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/tap_patterns.h"

#include "core/base/file.h"

#include <sstream>

namespace moire::capture {

Result<std::vector<std::string>> expandTapPatterns(const std::vector<std::string>& given)
{
    constexpr std::size_t largestFile = std::size_t{1} << 24U; ///< 16 MiB
    constexpr auto blanks = " \t\r";
    std::vector<std::string> patterns;
    for (const std::string& pattern : given) {
        if (!pattern.starts_with('@')) {
            patterns.push_back(pattern);
            continue;
        }
        const std::string path = pattern.substr(1);
        const auto text = base::readSmallFile(path, largestFile);
        if (!text)
            return text.error();
        const std::size_t before = patterns.size();
        std::istringstream lines(*text);
        for (std::string line; std::getline(lines, line);) {
            const std::size_t begin = line.find_first_not_of(blanks);
            if (begin == std::string::npos || line[begin] == '#')
                continue;
            patterns.push_back(line.substr(begin, line.find_last_not_of(blanks) + 1 - begin));
        }
        if (patterns.size() == before)
            return Error{Errc::Invalid, "the file has no tap pattern", path,
                         "Write one pattern a line, such as model.layers.*.out"};
    }
    return patterns;
}

} // namespace moire::capture
