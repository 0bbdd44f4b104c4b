// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/store/mapping_guard.h"
#include "core/store/schema.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

namespace moire::store {

/// Where a table's chunks lie.
struct TablePlace
{
    std::uint64_t chunkRecords = 0;
    std::vector<std::uint64_t> addresses;
};

/// What to do about a digest that does not hold: refuse the file, or note it and read on.
enum class OnDisagreement
{
    Refuse,
    Note
};

/// The mapped bytes of a capture with its commit record and index (FORMAT.md, sections 3 and 6):
/// finds the records of a table and checks that they lie in the file. HDF5 is not asked, so no
/// damage can lead its library astray.
class CaptureFile
{
public:
    static Result<CaptureFile> open(const std::filesystem::path& path, OnDisagreement policy);

    const CommitRecord& commit() const { return m_commit; }
    bool complete() const { return m_commit.state == 1; }
    std::string name() const { return m_file.path().string(); }
    std::uint64_t size() const { return m_file.bytes().size(); }
    bool beingWritten() const;
    /// Places of the tables whose digest did not hold (policy Note).
    const std::vector<std::string>& disagreements() const { return m_disagreements; }

    /// Null when the index knows no chunk of the table.
    const TablePlace* place(std::uint32_t table) const;
    /// The first record of a chunk.
    const std::byte* at(std::uint64_t address) const { return m_file.bytes().data() + address; }
    /// How many of the table's first `records` records lie in the file as a whole.
    std::uint64_t presentRecords(const TableSpec& table, std::uint64_t records) const;
    /// The committed records of one of the tables 0 … 11 as one run of bytes, digest checked.
    Result<std::vector<std::byte>> records(const TableSpec& table);

    /// From now on the file must reach to byte `end` (a complete one: to its recorded size).
    void need(std::uint64_t end) { m_needed = std::max(m_needed, end); }
    /// Damaged once the file is shorter than what is needed of it. Asks the system.
    Result<void> stillSound() const;
    /// The same without asking the system: true when a reader has met the loss already.
    bool lost() const { return m_guard.lost(); }
    Error damaged(const std::string& sentence, const std::string& where = {}) const;

private:
    Result<void> readUserBlock();
    Result<void> readCommit();
    Result<void> readIndex();
    Result<void> disagree(const std::string& where);

    base::MappedFile m_file;
    MappingGuard m_guard; ///< gone before the mapping is
    OnDisagreement m_policy = OnDisagreement::Refuse;
    UserBlock m_block{};
    CommitRecord m_commit{};
    std::uint64_t m_needed = 0;
    std::unordered_map<std::uint32_t, TablePlace> m_places;
    std::vector<std::string> m_disagreements;
};

} // namespace moire::store
