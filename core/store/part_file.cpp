// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/part_file.h"

#include "core/base/file.h"
#include "core/numeric/digest.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace moire::store {

namespace {

template <class Record>
Piece pieceOf(const Record& record)
{
    return {reinterpret_cast<const std::byte*>(&record), sizeof(Record)};
}

std::uint64_t digestOfWords(const void* words, std::size_t count)
{
    return digestFrom(static_cast<const std::byte*>(words), count * 8, 8, 0);
}

} // namespace

Result<std::unique_ptr<PartFile>> PartFile::create(const std::filesystem::path& path,
                                                   std::vector<SkeletonTable> tables)
{
    std::unique_ptr<PartFile> file(new PartFile);
    file->m_path = path;
    file->m_tables = tables;
    file->m_addresses.resize(tables.size());
    if (auto made = file->m_skeleton.create(path, std::move(tables)); !made)
        return made.error();
    if (auto opened = file->openDescriptor(); !opened)
        return opened.error();
    if (auto found = file->findAddressBase(); !found)
        return found.error();
    if (auto grown = file->growIndex(); !grown)
        return grown.error();
    if (auto written = file->writeUserBlock(); !written)
        return written.error();
    return file;
}

PartFile::~PartFile()
{
    static_cast<void>(m_skeleton.close());
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

Result<void> PartFile::openDescriptor()
{
    m_descriptor = ::open(m_path.c_str(), O_RDWR | O_CLOEXEC);
    if (m_descriptor < 0)
        return base::systemError(errno, "cannot write", m_path);
    // Tells others that the writer lives; where the file system knows no locks nobody can tell.
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    static_cast<void>(::fcntl(m_descriptor, F_OFD_SETLK, &lock));
    return {};
}

Result<void> PartFile::findAddressBase()
{
    // HDF5 versions differ in whether H5Dget_chunk_info counts from the user block's end or from
    // the beginning of the file: a record written through HDF5 shows which.
    std::array<CommitRecord, 2> mark{};
    std::memset(mark.data(), 0xA5, sizeof mark);
    if (auto made = m_skeleton.extend(Commits, mark.size()); !made)
        return made;
    if (auto written = m_skeleton.writeRecords(Commits, mark.data()); !written)
        return written;
    if (auto flushed = m_skeleton.flush(); !flushed)
        return flushed;
    const auto address = m_skeleton.chunkAddress(Commits, 0);
    if (!address)
        return address.error();
    for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{userBlockBytes}}) {
        std::array<CommitRecord, 2> found{};
        const ssize_t got =
            ::pread(m_descriptor, found.data(), sizeof found, static_cast<off_t>(*address + base));
        if (got != static_cast<ssize_t>(sizeof found)
            || std::memcmp(found.data(), mark.data(), sizeof mark) != 0)
            continue;
        m_base = base;
        m_addresses[Commits] = {*address + base};
        const std::array<CommitRecord, 2> none{};
        return writeAt(*address + base,
                       {{reinterpret_cast<const std::byte*>(none.data()), sizeof none}});
    }
    return Error{Errc::Internal, "this version of HDF5 does not say where it puts chunks",
                 m_path.string(), "Build with HDF5 1.10 or later"};
}

Result<void> PartFile::writeUserBlock()
{
    UserBlock block{magic,
                    formatVersion,
                    userBlockBytes,
                    m_addresses[Commits][0],
                    m_addresses[Index][0],
                    m_tables[Index].chunkRecords,
                    sizeof(CommitRecord),
                    0};
    block.digest = digestOfWords(&block, userBlockDigested);
    std::array<std::byte, userBlockBytes> bytes{};
    std::memcpy(bytes.data(), &block, sizeof block);
    return writeAt(0, {{bytes.data(), bytes.size()}});
}

Result<void> PartFile::startSwmr()
{
    if (auto flushed = m_skeleton.flush(); !flushed)
        return flushed;
    return m_skeleton.startSwmr();
}

Result<void> PartFile::growIndex()
{
    const std::uint64_t chunk = m_addresses[Index].size();
    if (auto made = m_skeleton.extend(Index, (chunk + 1) * m_tables[Index].chunkRecords); !made)
        return made;
    const auto address = m_skeleton.chunkAddress(Index, chunk);
    if (!address)
        return address.error();
    m_addresses[Index].push_back(*address + m_base);
    return {};
}

Result<void> PartFile::appendIndex(const IndexRecord& entry)
{
    const std::uint64_t perChunk = m_tables[Index].chunkRecords;
    if ((m_index.count + m_newEntries.size()) % perChunk == perChunk - 1) {
        if (auto grown = growIndex(); !grown)
            return grown;
        m_newEntries.push_back(
            {IndexLink, static_cast<std::uint32_t>(perChunk), m_addresses[Index].back()});
    }
    m_newEntries.push_back(entry);
    return {};
}

Result<void> PartFile::makeRoom(std::span<const std::size_t> tables, std::uint64_t chunks,
                                std::uint64_t records)
{
    if (tables.empty() || chunks <= chunksOf(tables.front()))
        return {};
    // One chunk of every table, then the next of every table: an unused end can be cut off.
    for (std::uint64_t chunk = chunksOf(tables.front()); chunk < chunks; ++chunk) {
        for (const std::size_t table : tables) {
            const std::uint64_t perChunk = m_tables[table].chunkRecords;
            const std::uint64_t length = chunk + 1 == chunks
                                             ? std::max(records, chunk * perChunk + 1)
                                             : (chunk + 1) * perChunk;
            if (auto made = m_skeleton.extend(table, length); !made)
                return made;
            const auto address = m_skeleton.chunkAddress(table, chunk);
            if (!address)
                return address.error();
            m_addresses[table].push_back(*address + m_base);
            const IndexRecord entry{m_tables[table].spec.number,
                                    static_cast<std::uint32_t>(perChunk), *address + m_base};
            if (auto noted = appendIndex(entry); !noted)
                return noted;
        }
    }
    return m_skeleton.flush();
}

Result<void> PartFile::write(std::size_t table, std::uint64_t first, std::span<const Piece> pieces)
{
    const std::size_t recordBytes = m_tables[table].spec.recordBytes;
    const std::uint64_t perChunk = m_tables[table].chunkRecords;
    std::vector<Piece> inChunk;
    std::uint64_t begin = first; // first record of inChunk
    std::uint64_t next = first;
    const auto send = [&]() -> Result<void> {
        if (inChunk.empty())
            return {};
        const std::uint64_t address =
            m_addresses[table].at(begin / perChunk) + begin % perChunk * recordBytes;
        return writeAt(address, std::move(inChunk));
    };
    for (Piece piece : pieces) {
        while (piece.bytes > 0) {
            const std::uint64_t room = (perChunk - next % perChunk) * recordBytes;
            const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(room, piece.bytes));
            inChunk.push_back({piece.data, taken});
            next += taken / recordBytes;
            piece = {piece.data + taken, piece.bytes - taken};
            if (taken < room)
                continue;
            if (auto sent = send(); !sent)
                return sent;
            inChunk.clear();
            begin = next;
        }
    }
    return send();
}

Result<void> PartFile::writeAt(std::uint64_t address, std::vector<Piece> pieces)
{
    std::array<iovec, IOV_MAX> vectors;
    std::size_t done = 0;
    while (done < pieces.size()) {
        const std::size_t count = std::min<std::size_t>(pieces.size() - done, vectors.size());
        for (std::size_t i = 0; i < count; ++i)
            vectors[i] = {const_cast<std::byte*>(pieces[done + i].data), pieces[done + i].bytes};
        const ssize_t got = ::pwritev(m_descriptor, vectors.data(), static_cast<int>(count),
                                      static_cast<off_t>(address));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return base::systemError(got < 0 ? errno : ENOSPC, "cannot write", m_path);
        address += static_cast<std::uint64_t>(got);
        auto left = static_cast<std::size_t>(got);
        while (done < pieces.size() && left >= pieces[done].bytes)
            left -= pieces[done++].bytes;
        if (left > 0)
            pieces[done] = {pieces[done].data + left, pieces[done].bytes - left};
    }
    return {};
}

Result<void> PartFile::commit(CommitRecord record)
{
    if (!m_newEntries.empty()) {
        const auto* bytes = reinterpret_cast<const std::byte*>(m_newEntries.data());
        const std::size_t size = m_newEntries.size() * sizeof(IndexRecord);
        const Piece piece{bytes, size};
        if (auto written = write(Index, m_index.count, {&piece, 1}); !written)
            return written;
        constexpr std::uint64_t wordsPerEntry = sizeof(IndexRecord) / 8;
        m_index.digest += digestFrom(bytes, size, 8, m_index.count * wordsPerEntry);
        m_index.count += m_newEntries.size();
        m_newEntries.clear();
    }
    record.sequence = ++m_sequence;
    record.index = m_index;
    record.digest = digestOfWords(&record, commitDigested);
    const std::uint64_t slot = record.sequence % 2;
    return writeAt(m_addresses[Commits][0] + slot * sizeof record, {pieceOf(record)});
}

Result<void> PartFile::closeAt(std::vector<std::uint64_t> records)
{
    records[Commits] = 2;
    records[Index] = m_index.count;
    if (auto closed = m_skeleton.close(); !closed)
        return closed;
    return m_skeleton.cut(records);
}

Result<std::uint64_t> PartFile::size() const
{
    struct stat status = {};
    if (::fstat(m_descriptor, &status) != 0)
        return base::systemError(errno, "cannot examine", m_path);
    return static_cast<std::uint64_t>(status.st_size);
}

} // namespace moire::store
