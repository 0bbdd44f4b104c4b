// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/measure.h"
#include "core/report/json_value.h"

namespace moire::report {

/// A measure as every JSON document of ours has it ($defs/measure of report.schema.json).
Json measureObject(const diff::Measure& measure);

} // namespace moire::report
