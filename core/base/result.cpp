// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/result.h"

namespace moire::base {

std::string Error::text() const
{
    std::string line = place.empty() ? sentence : place + ": " + sentence;
    if (!line.empty() && line.back() != '.')
        line += '.';
    if (!hint.empty()) {
        line += ' ' + hint;
        if (line.back() != '.' && line.back() != '?')
            line += '.';
    }
    return line;
}

} // namespace moire::base
