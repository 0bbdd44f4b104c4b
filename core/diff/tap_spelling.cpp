// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/tap_spelling.h"

namespace moire::diff {

std::optional<std::string> spelledOut(std::string_view written,
                                      const std::function<bool(const std::string&)>& exists)
{
    const std::string bare(written);
    const std::string full = "model." + bare;
    for (const std::string& name : {bare, full})
        if (exists(name))
            return name;
    for (const std::string& name : {bare, full}) {
        const bool out = exists(name + ".out");
        const bool in = exists(name + ".in");
        if (out != in)
            return name + (out ? ".out" : ".in");
        if (out)
            return std::nullopt;
    }
    return std::nullopt;
}

} // namespace moire::diff
