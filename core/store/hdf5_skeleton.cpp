// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/hdf5_skeleton.h"

#include "core/base/file.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

namespace moire::store {

namespace {

/// HDF5 has one lock a process at best; this one is ours, whatever the library was built with.
std::mutex& hdf5Mutex()
{
    static std::mutex mutex;
    return mutex;
}

/// Holds the lock and keeps HDF5 from printing its error stack.
class Hdf5Session
{
public:
    Hdf5Session()
        : m_lock(hdf5Mutex())
    {
        // Without this a file that could not be flushed is tried again, loudly, at exit.
        static const bool quietEnd = H5dont_atexit() >= 0;
        static_cast<void>(quietEnd);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }

private:
    std::lock_guard<std::mutex> m_lock;
};

template <herr_t (*Close)(hid_t)>
Hdf5Handle own(hid_t id)
{
    return {id, [](std::int64_t open) { return static_cast<int>(Close(open)); }};
}

/// The errno that HDF5's file driver wrote into its error stack, 0 when it did not.
int systemErrorNumber()
{
    int number = 0;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned, const H5E_error2_t* entry, void* result) -> herr_t {
            const char* found =
                entry->desc == nullptr ? nullptr : std::strstr(entry->desc, "errno = ");
            if (found != nullptr && *static_cast<int*>(result) == 0)
                *static_cast<int*>(result) = std::atoi(found + std::strlen("errno = "));
            return 0;
        },
        &number);
    return number;
}

Hdf5Handle fileAccess(std::size_t datasets)
{
    Hdf5Handle access = own<H5Pclose>(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_alignment(access.id(), 1, chunkAlignment);
    // Metadata in blocks of their own, so that chunks lie one behind the other: about 1 KiB a
    // dataset is what its header and chunk index take.
    constexpr std::size_t smallest = 4096;
    constexpr std::size_t largest = std::size_t{1} << 20U;
    H5Pset_meta_block_size(access.id(), std::clamp(datasets * 1024, smallest, largest));
    H5Pset_small_data_block_size(access.id(), 0);
    // Parallel file systems often know no locks; SWMR needs none of them.
    H5Pset_file_locking(access.id(), true, true);
    return access;
}

Hdf5Handle datasetAccess()
{
    Hdf5Handle access = own<H5Pclose>(H5Pcreate(H5P_DATASET_ACCESS));
    // HDF5 never sees a value while the run is written: no chunk cache.
    H5Pset_chunk_cache(access.id(), 1, 0, H5D_CHUNK_CACHE_W0_DEFAULT);
    return access;
}

bool writeTextAttribute(hid_t object, const char* name, const std::string& text)
{
    const Hdf5Handle type = own<H5Tclose>(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.id(), text.size());
    H5Tset_cset(type.id(), H5T_CSET_UTF8);
    const Hdf5Handle space = own<H5Sclose>(H5Screate(H5S_SCALAR));
    const Hdf5Handle attribute =
        own<H5Aclose>(H5Acreate2(object, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT));
    return attribute.valid() && H5Awrite(attribute.id(), type.id(), text.data()) >= 0;
}

} // namespace

Hdf5Skeleton::~Hdf5Skeleton()
{
    static_cast<void>(close());
}

Error Hdf5Skeleton::failure(const char* sentence)
{
    const int number = systemErrorNumber();
    // HDF5 1.10 cannot close a file whose metadata it cannot write: what is on disk stays as it is.
    abandon();
    if (number != 0)
        return base::systemError(number, sentence, m_path);
    return {Errc::Io, std::string(sentence) + ": HDF5 refused", m_path.string(),
            "Check the disk, or choose another folder"};
}

void Hdf5Skeleton::abandon()
{
    for (Hdf5Handle& dataset : m_datasets)
        dataset.abandon();
    m_datasets.clear();
    m_file.abandon();
}

Result<void> Hdf5Skeleton::create(const std::filesystem::path& path,
                                  std::vector<SkeletonTable> tables)
{
    const Hdf5Session session;
    m_path = path;
    m_tables = std::move(tables);
    m_lengths.assign(m_tables.size(), 0);
    const Hdf5Handle creation = own<H5Pclose>(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_userblock(creation.id(), userBlockBytes);
    // What alignment leaves between chunks is not worth remembering: searching through thousands of
    // such scraps took 1.5 ms a chunk.
    H5Pset_file_space_strategy(creation.id(), H5F_FSPACE_STRATEGY_FSM_AGGR, false, chunkAlignment);
    const Hdf5Handle access = fileAccess(m_tables.size());
    m_file = own<H5Fclose>(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()));
    if (!m_file.valid())
        return failure("cannot write");
    return createDatasets();
}

Result<void> Hdf5Skeleton::createDatasets()
{
    if (auto marked = markFormat(); !marked)
        return marked;
    for (const SkeletonTable& table : m_tables)
        if (auto made = createDataset(table); !made)
            return made;
    if (H5Fflush(m_file.id(), H5F_SCOPE_GLOBAL) < 0)
        return failure("cannot write");
    return {};
}

Result<void> Hdf5Skeleton::markFormat()
{
    const Hdf5Handle space = own<H5Sclose>(H5Screate(H5S_SCALAR));
    const Hdf5Handle version = own<H5Aclose>(H5Acreate2(
        m_file.id(), "format_version", H5T_STD_I64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT));
    const std::int64_t number = formatVersion;
    if (!version.valid() || H5Awrite(version.id(), H5T_NATIVE_INT64, &number) < 0
        || !writeTextAttribute(m_file.id(), "format", "moire"))
        return failure("cannot write");
    return {};
}

Result<void> Hdf5Skeleton::createDataset(const SkeletonTable& table)
{
    const TableSpec& spec = table.spec;
    const int rank = spec.matrix ? 2 : 1;
    const std::array<hsize_t, 2> none{0, spec.width};
    const std::array<hsize_t, 2> most{H5S_UNLIMITED, spec.width};
    const std::array<hsize_t, 2> chunk{table.chunkRecords, spec.width};
    const Hdf5Handle space = own<H5Sclose>(H5Screate_simple(rank, none.data(), most.data()));
    const Hdf5Handle creation = own<H5Pclose>(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation.id(), rank, chunk.data());
    H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
    const Hdf5Handle links = own<H5Pclose>(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links.id(), 1);
    H5Pset_char_encoding(links.id(), H5T_CSET_UTF8);
    const Hdf5Handle access = datasetAccess();
    const Hdf5Handle type = elementType(spec);
    Hdf5Handle dataset =
        own<H5Dclose>(H5Dcreate2(m_file.id(), spec.path.c_str(), type.id(), space.id(), links.id(),
                                 creation.id(), access.id()));
    if (!dataset.valid())
        return failure("cannot write");
    if (spec.element == ElementKind::DType
        && !writeTextAttribute(dataset.id(), "dtype", std::string(numeric::nameOf(spec.dtype))))
        return failure("cannot write");
    m_datasets.push_back(std::move(dataset));
    return {};
}

Result<void> Hdf5Skeleton::startSwmr()
{
    const Hdf5Session session;
    if (H5Fstart_swmr_write(m_file.id()) < 0)
        return failure("cannot write");
    return {};
}

Result<void> Hdf5Skeleton::extend(std::size_t table, std::uint64_t records)
{
    const Hdf5Session session;
    const std::array<hsize_t, 2> size{records, m_tables[table].spec.width};
    if (H5Dset_extent(m_datasets[table].id(), size.data()) < 0)
        return failure("cannot write");
    m_lengths[table] = records;
    return {};
}

Result<std::uint64_t> Hdf5Skeleton::chunkAddress(std::size_t table, std::uint64_t chunk)
{
    const Hdf5Session session;
    const std::array<hsize_t, 2> offset{chunk * m_tables[table].chunkRecords, 0};
    unsigned filters = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    if (H5Dget_chunk_info_by_coord(m_datasets[table].id(), offset.data(), &filters, &address,
                                   &bytes)
            < 0
        || address == HADDR_UNDEF)
        return failure("cannot find room");
    return address;
}

Result<void> Hdf5Skeleton::writeRecords(std::size_t table, const void* records)
{
    const Hdf5Session session;
    const Hdf5Handle type = elementType(m_tables[table].spec);
    if (H5Dwrite(m_datasets[table].id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, records) < 0)
        return failure("cannot write");
    return {};
}

Result<void> Hdf5Skeleton::flush()
{
    const Hdf5Session session;
    if (H5Fflush(m_file.id(), H5F_SCOPE_GLOBAL) < 0)
        return failure("cannot write");
    return {};
}

Result<void> Hdf5Skeleton::close()
{
    const Hdf5Session session;
    for (Hdf5Handle& dataset : m_datasets)
        if (!dataset.close())
            return failure("cannot write");
    m_datasets.clear();
    if (!m_file.close())
        return failure("cannot write");
    return {};
}

Result<void> Hdf5Skeleton::cut(std::span<const std::uint64_t> records)
{
    if (std::equal(records.begin(), records.end(), m_lengths.begin(), m_lengths.end()))
        return {};
    {
        const Hdf5Session session;
        const Hdf5Handle access = fileAccess(m_tables.size());
        m_file = own<H5Fclose>(H5Fopen(m_path.c_str(), H5F_ACC_RDWR, access.id()));
        if (!m_file.valid())
            return failure("cannot write");
        const Hdf5Handle uncached = datasetAccess();
        for (std::size_t i = 0; i < m_tables.size(); ++i) {
            if (records[i] == m_lengths[i])
                continue;
            const std::array<hsize_t, 2> size{records[i], m_tables[i].spec.width};
            const Hdf5Handle dataset =
                own<H5Dclose>(H5Dopen2(m_file.id(), m_tables[i].spec.path.c_str(), uncached.id()));
            if (!dataset.valid() || H5Dset_extent(dataset.id(), size.data()) < 0)
                return failure("cannot write");
        }
    }
    return close();
}

} // namespace moire::store
