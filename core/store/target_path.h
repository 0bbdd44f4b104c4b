// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/trace/run.h"

#include <filesystem>

namespace moire::store {

/// Checks that `path` can become a capture, and puts an older partial file of the same name aside
/// as PATH.part.old. Errors: NotFound (folder), Invalid (a folder or device; a file that is there
/// and is no capture; another process records).
Result<void> prepareTarget(const std::filesystem::path& path, const std::filesystem::path& part);

/// Renames the finished file, over an older one if there is one.
Result<void> putInPlace(const std::filesystem::path& part, const std::filesystem::path& path);

/// Whether some process holds the writer's lock on an open file (FORMAT.md, section 6).
bool isBeingWritten(int descriptor);

/// Whether the format can hold a header: names that are unique and good as HDF5 paths, widths > 0,
/// tap inputs in range. Errors: Invalid.
Result<void> checkHeader(const trace::RunHeader& header);

} // namespace moire::store
