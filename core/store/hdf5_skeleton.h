// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/store/hdf5_types.h"
#include "core/store/schema.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace moire::store {

/// A dataset to be made: its table, the records a chunk holds.
struct SkeletonTable
{
    TableSpec spec;
    std::uint64_t chunkRecords = 1;
};

/// The HDF5 side of a file being written: it makes the datasets and finds room for their chunks.
/// What is in the chunks is written past HDF5, at the addresses that it gives. One thread a
/// skeleton; HDF5 itself is used under one lock of this room.
class Hdf5Skeleton
{
public:
    Hdf5Skeleton() = default;
    ~Hdf5Skeleton();
    Hdf5Skeleton(const Hdf5Skeleton&) = delete;
    Hdf5Skeleton& operator=(const Hdf5Skeleton&) = delete;

    /// Makes the file at `path` with all datasets, still empty.
    Result<void> create(const std::filesystem::path& path, std::vector<SkeletonTable> tables);
    /// From here on any HDF5 library may read along.
    Result<void> startSwmr();
    /// Lengthens a dataset to `records`; room is made for whole chunks.
    Result<void> extend(std::size_t table, std::uint64_t records);
    /// The byte in the file at which a chunk lies.
    Result<std::uint64_t> chunkAddress(std::size_t table, std::uint64_t chunk);
    /// Writes whole records from the first on through HDF5 itself (before SWMR begins).
    Result<void> writeRecords(std::size_t table, const void* records);
    Result<void> flush();
    /// Closes the file as it is.
    Result<void> close();
    /// Opens the closed file again and cuts every dataset to its length in `records`.
    Result<void> cut(std::span<const std::uint64_t> records);

private:
    Result<void> createDatasets();
    Result<void> createDataset(const SkeletonTable& table);
    Result<void> markFormat();
    Error failure(const char* sentence);
    void abandon();

    std::filesystem::path m_path;
    std::vector<SkeletonTable> m_tables;
    std::vector<Hdf5Handle> m_datasets;
    std::vector<std::uint64_t> m_lengths;
    Hdf5Handle m_file;
};

} // namespace moire::store
