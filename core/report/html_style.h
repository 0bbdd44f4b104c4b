// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

namespace moire::report {

/// resources/report/report.css, built in.
std::string_view pageStyle();

/// What sorts tables and tells of a map's cells under the mouse (resources/report/report.js). The
/// page says all it has to say without it.
std::string_view pageScript();

} // namespace moire::report
