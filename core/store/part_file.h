// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/store/hdf5_skeleton.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace moire::store {

/// Bytes of consecutive records somewhere in memory.
struct Piece
{
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
};

/// A capture file being written: knows where every chunk lies, writes records there, keeps the
/// index and the commit records (FORMAT.md, section 6). Tables are named by their place in the
/// list given to create(); the first fourteen are those of runTables().
class PartFile
{
public:
    static Result<std::unique_ptr<PartFile>> create(const std::filesystem::path& path,
                                                    std::vector<SkeletonTable> tables);
    ~PartFile();
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    /// Room for `chunks` chunks in each of the tables, which then are `records` long in HDF5.
    Result<void> makeRoom(std::span<const std::size_t> tables, std::uint64_t chunks,
                          std::uint64_t records);
    std::uint64_t chunksOf(std::size_t table) const { return m_addresses[table].size(); }
    std::uint64_t chunkRecords(std::size_t table) const { return m_tables[table].chunkRecords; }
    const TableSpec& spec(std::size_t table) const { return m_tables[table].spec; }
    std::size_t tableCount() const { return m_tables.size(); }

    /// Writes the pieces one after another from record `first` on. Requires room.
    Result<void> write(std::size_t table, std::uint64_t first, std::span<const Piece> pieces);
    /// After the last dataset and the first room: readers may come.
    Result<void> startSwmr();
    /// Writes the new index entries and, last, the record (its sequence, index and digest are
    /// filled in here).
    Result<void> commit(CommitRecord record);
    /// Cuts every table to `records` and closes the HDF5 side; commit() still works.
    Result<void> closeAt(std::vector<std::uint64_t> records);
    /// Closes the HDF5 side as it is.
    Result<void> close() { return m_skeleton.close(); }
    Result<std::uint64_t> size() const;

private:
    PartFile() = default;
    Result<void> openDescriptor();
    Result<void> findAddressBase();
    Result<void> writeUserBlock();
    Result<void> appendIndex(const IndexRecord& entry);
    Result<void> growIndex();
    Result<void> writeAt(std::uint64_t address, std::vector<Piece> pieces);

    std::filesystem::path m_path;
    std::vector<SkeletonTable> m_tables;
    std::vector<std::vector<std::uint64_t>> m_addresses; ///< of every chunk, absolute
    Hdf5Skeleton m_skeleton;
    int m_descriptor = -1;
    std::uint64_t m_base = 0; ///< what HDF5's addresses are relative to
    std::uint64_t m_sequence = 0;
    std::vector<IndexRecord> m_newEntries;
    CountAndDigest m_index{}; ///< as written
};

} // namespace moire::store
