// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/trace/run.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::diff {

/// Elements [begin, end) of a tap.
struct Slice
{
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// One line of a mapping: taps of the reference like one pattern stand for taps of the target like
/// the other. What a '*' met in the reference's name stands in place of the target's '*', the first
/// for the first.
struct MappingEntry
{
    std::string reference;
    std::string target;
    std::optional<Slice> referenceSlice, targetSlice; ///< none: the whole tap
    std::uint32_t line = 0;                           ///< in the file; 0: not from a file
};

/// Which taps of two runs stand for each other though their names differ, as the user says.
/// Immutable but for add().
class TapMapping
{
public:
    /// A file in TOML or JSON with `[[map]]` tables: `reference = "…q_proj.out"`,
    /// `target = "…qkv_proj.out[0:576]"`, the slice optional on either side. Errors name line and
    /// key; Invalid also for an entry that stands twice or maps two names to one.
    static Result<TapMapping> read(const std::filesystem::path& path);
    static Result<TapMapping> parse(std::string_view text, const std::string& name);

    void add(MappingEntry entry) { m_entries.push_back(std::move(entry)); }
    const std::vector<MappingEntry>& entries() const { return m_entries; }
    const std::string& file() const { return m_file; } ///< for messages; empty without one
    /// The mapping as TOML that read() takes.
    std::string text() const;

private:
    std::string m_file;
    std::vector<MappingEntry> m_entries;
};

} // namespace moire::diff
