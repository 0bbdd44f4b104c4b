// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace moire::report {

/// A whole page around the markup of its parts: style, colours of the scale in both themes, the
/// hatching of what is not comparable. Self-contained.
std::string htmlPage(std::string_view title, std::string_view main, std::string_view footer);

/// The verdict as the page's heading; `mark` is ● where nothing differs, else ◆. `verdict` is text.
std::string verdictHeading(std::string_view verdict, bool differs);

} // namespace moire::report
