// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/trace/run.h"

#include <string>

/// The page's sections that are tables; each is empty when it has nothing to say.
namespace moire::report {

std::string environmentSection(const diff::Report& report);
std::string firstSection(const diff::Report& report);
std::string tapsSection(const diff::Report& report);
std::string samplesSection(const diff::Report& report);
std::string measuresSection(const diff::Report& report);
/// `map` is the routing map's markup.
std::string routingSection(const diff::Report& report, const trace::Run& reference,
                           const std::string& map);

} // namespace moire::report
