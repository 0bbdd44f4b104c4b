// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/spool_index.h"

#include "core/base/checked.h"
#include "core/base/file.h"
#include "core/numeric/digest.h"
#include "core/wire/run_messages.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace moire::capture {

namespace {

constexpr std::string_view magic = "MOIRELOG";

struct RecordHead
{
    std::uint64_t size = 0;
    std::uint64_t digest = 0;
};

} // namespace

SpoolIndex::SpoolIndex(SpoolIndex&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_size(other.m_size)
{}

SpoolIndex::~SpoolIndex()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

Result<SpoolIndex> SpoolIndex::create(const std::filesystem::path& path)
{
    constexpr mode_t ownerOnly = 0600;
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, ownerOnly);
    if (descriptor < 0)
        return base::systemError(errno, "cannot be made", path);
    SpoolIndex index(path, descriptor, 0);
    if (auto written = index.write(std::as_bytes(std::span(magic))); !written)
        return written.error();
    return index;
}

Result<SpoolIndex> SpoolIndex::resume(const std::filesystem::path& path, std::uint64_t size)
{
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return base::systemError(errno, "cannot be opened", path);
    SpoolIndex index(path, descriptor, size);
    if (::ftruncate(descriptor, static_cast<off_t>(size)) != 0)
        return base::systemError(errno, "cannot be cut", path);
    return index;
}

/// At the end of what counts, so that a write that failed half-way is written over.
Result<void> SpoolIndex::write(std::span<const std::byte> bytes)
{
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = ::pwrite(m_descriptor, bytes.data() + done, bytes.size() - done,
                                       static_cast<off_t>(m_size + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return base::systemError(count < 0 ? errno : ENOSPC, "cannot be written", m_path);
        done += static_cast<std::size_t>(count);
    }
    m_size += bytes.size();
    return {};
}

Result<void> SpoolIndex::add(const wire::Packed& message)
{
    const wire::Frame content = wire::packTogether(std::span(&message, 1));
    const RecordHead head{content.size(),
                          numeric::bytesDigest(content.bytes.data(), content.size())};
    std::vector<std::byte> record(sizeof head + content.size());
    std::memcpy(record.data(), &head, sizeof head);
    std::memcpy(record.data() + sizeof head, content.bytes.data(), content.size());
    return write(record);
}

Result<std::uint64_t> SpoolIndex::read(const std::filesystem::path& path,
                                       const std::function<bool(const wire::Message&)>& visit)
{
    auto mapped = base::MappedFile::open(path);
    if (!mapped)
        return mapped.error();
    const auto file = std::make_shared<const base::MappedFile>(*std::move(mapped));
    const std::span<const std::byte> bytes = file->bytes();
    if (bytes.size() < magic.size() || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
        return Error{Errc::Damaged, "is no list of a run's messages", path.string(), {}};
    std::uint64_t end = magic.size();
    RecordHead head;
    while (base::rangeFits(end, sizeof head, bytes.size())) {
        std::memcpy(&head, bytes.data() + end, sizeof head);
        const std::uint64_t begin = end + sizeof head;
        if (!base::rangeFits(begin, head.size, bytes.size())
            || numeric::bytesDigest(bytes.data() + begin, head.size) != head.digest)
            break;
        const auto packed =
            wire::unpackTogether({file, bytes.subspan(begin, head.size)}, wire::clientLimits);
        if (!packed || packed->size() != 1)
            break;
        const auto message = wire::unpack(packed->front(), wire::clientLimits);
        if (!message || !visit(*message))
            break;
        end = begin + head.size;
    }
    return end;
}

} // namespace moire::capture
