// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/study.h"

#include <cstddef>

namespace moire::diff {

/// K4's matrix, from the rows that have reductions.
void addDisagreement(std::size_t baseline, StudyReport& report);

/// K5's front, from cost and forward KL.
void addParetoFront(StudyReport& report);

} // namespace moire::diff
