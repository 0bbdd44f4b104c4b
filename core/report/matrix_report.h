// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/run_matrix.h"

#include <string>

/// Every capture against every other, in each format. Equal matrices give equal bytes.
namespace moire::report {

inline constexpr std::string_view matrixSchema = "moire-matrix/1";

/// One sentence or two: how many groups of bitwise equal captures there are.
std::string matrixVerdict(const diff::RunMatrix& matrix);

std::string matrixText(const diff::RunMatrix& matrix);

/// As core/report/matrix.schema.json has it.
std::string matrixJson(const diff::RunMatrix& matrix);

std::string matrixHtml(const diff::RunMatrix& matrix);

} // namespace moire::report
