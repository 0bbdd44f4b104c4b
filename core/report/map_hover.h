// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/report/pooled_map.h"

#include <string>
#include <string_view>
#include <vector>

namespace moire::report {

/// What the page's script says of a map's cells under the mouse, as a script element of JSON that
/// stands behind the figure: names of rows, samples and positions of columns, what each colour
/// means. Of a size that does not grow with the number of rows compared: names beyond a bound are
/// left out, and the script says less.
std::string mapHover(const PooledMap& map, const MapColumns& columns,
                     const std::vector<std::string>& rowNames, std::string_view equalWords,
                     std::string_view quantity);

} // namespace moire::report
