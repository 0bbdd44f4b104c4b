// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

/// The temporary names under which files are written, so that a file appears whole or not at all.
namespace moire::report {

/// Beside `path`: its name (cut where a file system would refuse it), ".part-" and the number of
/// this process.
std::filesystem::path partialPathOf(const std::filesystem::path& path);

/// Removes from `folder` what processes that are gone left half written under the names (the part
/// before ".part-") that `isOurs` knows. Left alone is what another process may still be writing:
/// its number is in use, or the file is locked, which holds on network disks too; and what belongs
/// to another user or is no plain file.
void sweepPartialFiles(const std::filesystem::path& folder,
                       const std::function<bool(std::string_view)>& isOurs);

/// Puts `path` on the list of removePartialFiles(), as long as that has room; null when not.
const char* listPartialFile(const std::filesystem::path& path);
/// Takes it off again; null is nothing.
void unlistPartialFile(const char* listed);

/// Deletes every file on the list. May be called by a signal handler; the program is to end after
/// it.
void removePartialFiles();

} // namespace moire::report
