// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/capture_file.h"

#include "core/base/checked.h"
#include "core/store/target_path.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace moire::store {

namespace {

constexpr std::array<unsigned char, 8> hdf5Signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
constexpr std::uint64_t alignment = 8; ///< of every chunk, so that records can be read in place

/// A record at `address`, when it lies in the bytes.
template <class Record>
std::optional<Record> recordAt(std::span<const std::byte> bytes, std::uint64_t address)
{
    if (!base::rangeFits(address, sizeof(Record), bytes.size()))
        return std::nullopt;
    Record record;
    std::memcpy(&record, bytes.data() + address, sizeof record);
    return record;
}

std::uint64_t digestOfWords(const void* words, std::size_t count)
{
    return digestFrom(static_cast<const std::byte*>(words), count * 8, 8, 0);
}

bool startsWith(std::span<const std::byte> bytes, const std::array<unsigned char, 8>& signature)
{
    return bytes.size() >= signature.size()
           && std::memcmp(bytes.data(), signature.data(), signature.size()) == 0;
}

Error notACapture(std::span<const std::byte> bytes, const std::filesystem::path& path)
{
    if (bytes.empty())
        return {Errc::Damaged, "is empty", path.string(), "Record the run again"};
    // HDF5 looks for its signature at 0 and at powers of two from 512 on.
    bool hdf5 = startsWith(bytes, hdf5Signature);
    for (std::uint64_t at = userBlockBytes; !hdf5 && at < bytes.size(); at *= 2)
        hdf5 = startsWith(bytes.subspan(at), hdf5Signature);
    return {Errc::Unsupported,
            hdf5 ? "is an HDF5 file, but not a capture, or one that was cut off before it recorded "
                   "anything"
                 : "is not a capture (nor any HDF5 file)",
            path.string(), "Name a .moire file written by moire-capture"};
}

} // namespace

Result<CaptureFile> CaptureFile::open(const std::filesystem::path& path, OnDisagreement policy)
{
    auto mapped = base::MappedFile::open(path);
    if (!mapped)
        return mapped.error();
    CaptureFile file;
    file.m_policy = policy;
    file.m_file = std::move(*mapped);
    file.m_guard = MappingGuard(file.m_file.bytes());
    if (auto read = file.readUserBlock(); !read)
        return read.error();
    if (auto read = file.readCommit(); !read)
        return read.error();
    if (auto read = file.readIndex(); !read)
        return read.error();
    return file;
}

Error CaptureFile::damaged(const std::string& sentence, const std::string& where) const
{
    return {Errc::Damaged, sentence, where.empty() ? name() : name() + ": " + where,
            "Record the run again, or take another copy of the file"};
}

Result<void> CaptureFile::disagree(const std::string& where)
{
    if (m_policy == OnDisagreement::Refuse)
        return damaged("the content does not give the recorded digest", where);
    m_disagreements.push_back(where);
    return {};
}

Result<void> CaptureFile::readUserBlock()
{
    const auto bytes = m_file.bytes();
    if (!startsWith(bytes, magic)) {
        const bool begun = bytes.size() < magic.size() && !bytes.empty()
                           && std::memcmp(bytes.data(), magic.data(), bytes.size()) == 0;
        return begun ? damaged("is truncated: it ends in the first bytes")
                     : notACapture(bytes, m_file.path());
    }
    const auto block = recordAt<UserBlock>(bytes, 0);
    if (!block)
        return damaged("is truncated: it ends in the user block");
    m_block = *block;
    if (block->version != formatVersion)
        return Error{Errc::Unsupported,
                     "has format version " + std::to_string(block->version)
                         + ", this program reads version " + std::to_string(formatVersion),
                     name(),
                     block->version > formatVersion ? "Use a newer Moire"
                                                    : "Record the run again with this Moire"};
    if (block->digest != digestOfWords(&*block, userBlockDigested)
        || block->commitBytes != sizeof(CommitRecord))
        return damaged("the user block does not hold");
    return {};
}

Result<void> CaptureFile::readCommit()
{
    bool found = false;
    for (std::uint64_t slot = 0; slot < 2; ++slot) {
        const auto begin = base::checkedAdd(m_block.commitAddress, slot * sizeof(CommitRecord));
        const auto record =
            begin ? recordAt<CommitRecord>(m_file.bytes(), *begin) : std::optional<CommitRecord>();
        if (!record || record->digest != digestOfWords(&*record, commitDigested)
            || record->state > 1 || record->sequence % 2 != slot
            || (found && record->sequence < m_commit.sequence))
            continue;
        m_commit = *record;
        found = true;
    }
    if (!found)
        return damaged("is truncated or damaged: no commit record holds", "/commit");
    if (complete() && m_commit.fileBytes > size())
        return damaged("is truncated: " + std::to_string(size()) + " of "
                       + std::to_string(m_commit.fileBytes) + " bytes are left");
    need(m_commit.fileBytes);
    return {};
}

Result<void> CaptureFile::readIndex()
{
    const std::uint64_t count = m_commit.index.count;
    if (count > size() / sizeof(IndexRecord) || m_commit.tables[Taps].count > size()
        || m_commit.tables[Routers].count > size())
        return damaged("is truncated: it ends before the index does", "/index");
    const std::uint64_t tables = FirstRouter + tablesPerRouter * m_commit.tables[Routers].count
                                 + m_commit.tables[Taps].count;
    std::uint64_t chunk = m_block.indexAddress;
    std::uint64_t digest = 0;
    constexpr std::uint64_t wordsPerEntry = sizeof(IndexRecord) / 8;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto entry = chunk % alignment == 0 ? recordAt<IndexRecord>(m_file.bytes(), chunk)
                                                  : std::optional<IndexRecord>();
        if (!entry)
            return damaged("is truncated: it ends before the index does", "/index");
        digest += digestFrom(at(chunk), sizeof(IndexRecord), 8, i * wordsPerEntry);
        chunk += sizeof(IndexRecord);
        if (entry->table == IndexLink) {
            chunk = entry->address;
            continue;
        }
        if (entry->table >= tables)
            return damaged("an entry names a table that the run does not have", "/index");
        TablePlace& place = m_places[entry->table];
        if (entry->records == 0 || entry->address % alignment != 0
            || (place.chunkRecords != 0 && place.chunkRecords != entry->records))
            return damaged("an entry contradicts another", "/index");
        place.chunkRecords = entry->records;
        place.addresses.push_back(entry->address);
    }
    if (digest != m_commit.index.digest)
        return disagree("/index");
    return {};
}

const TablePlace* CaptureFile::place(std::uint32_t table) const
{
    const auto found = m_places.find(table);
    return found == m_places.end() ? nullptr : &found->second;
}

std::uint64_t CaptureFile::presentRecords(const TableSpec& table, std::uint64_t records) const
{
    const TablePlace* chunks = place(table.number);
    if (chunks == nullptr)
        return 0;
    std::uint64_t present = 0;
    for (const std::uint64_t address : chunks->addresses) {
        const std::uint64_t want = std::min(records - present, chunks->chunkRecords);
        const std::uint64_t have =
            address < size() ? std::min(want, (size() - address) / table.recordBytes) : 0;
        present += have;
        if (have < want || present == records)
            break;
    }
    return present;
}

Result<std::vector<std::byte>> CaptureFile::records(const TableSpec& table)
{
    const CountAndDigest& committed = m_commit.tables[table.number];
    std::vector<std::byte> bytes;
    if (committed.count == 0)
        return bytes;
    if (presentRecords(table, committed.count) < committed.count)
        return damaged("is truncated: the table is not all there", table.path);
    const TablePlace& chunks = *place(table.number);
    // Chunks may claim the same bytes: what they give together is still no more than the file.
    if (committed.count > size() / table.recordBytes)
        return damaged("the table is larger than the file", table.path);
    bytes.reserve(committed.count * table.recordBytes);
    for (std::uint64_t done = 0; done < committed.count; done += chunks.chunkRecords) {
        const std::uint64_t taken = std::min(chunks.chunkRecords, committed.count - done);
        const std::byte* begin = at(chunks.addresses[done / chunks.chunkRecords]);
        bytes.insert(bytes.end(), begin, begin + taken * table.recordBytes);
    }
    if (digestFrom(bytes.data(), bytes.size(), table.digestBytes, 0) != committed.digest)
        if (auto refused = disagree(table.path); !refused)
            return refused.error();
    return bytes;
}

bool CaptureFile::beingWritten() const
{
    return isBeingWritten(m_file.descriptor());
}

Result<void> CaptureFile::stillSound() const
{
    // Not the mapped size: an incomplete file loses unused bytes when its writer finishes.
    if (m_guard.lost() || m_file.sizeNow() < m_needed)
        return damaged("was cut short while it was open");
    return {};
}

} // namespace moire::store
