// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

namespace moire::report {

/// resources/report/report.css, built in.
std::string_view pageStyle();

} // namespace moire::report
