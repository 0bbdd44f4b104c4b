// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace moire::base {

Error systemError(int errorNumber, const std::string& sentence, const std::filesystem::path& path)
{
    Error error{Errc::Io, sentence + ": " + std::strerror(errorNumber), path.string(), {}};
    switch (errorNumber) {
    case ENOENT:
        error.code = Errc::NotFound;
        error.sentence = "no such file or folder";
        error.hint = "Check the path";
        break;
    case ENOSPC:
    case EDQUOT:
        error.code = Errc::NoSpace;
        error.hint = "Free some space or choose another disk";
        break;
    case EFBIG:
        error.hint = "Raise the limit on the size of files (ulimit -f) or write less";
        break;
    case EROFS:
        error.hint = "The file system is read-only; choose another folder";
        break;
    case EACCES:
    case EPERM:
        error.hint = "Check the permissions";
        break;
    default:
        break;
    }
    return error;
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path)
{
    MappedFile file;
    file.m_path = path;
    // A pipe that nobody writes to would wait here for ever; it is refused below.
    file.m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file.m_descriptor < 0)
        return systemError(errno, "cannot open", path);
    struct stat status = {};
    if (::fstat(file.m_descriptor, &status) != 0)
        return systemError(errno, "cannot examine", path);
    if (!S_ISREG(status.st_mode))
        return Error{Errc::Invalid,
                     S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file",
                     path.string(), "Name a file"};
    file.m_size = static_cast<std::size_t>(status.st_size);
    if (file.m_size == 0)
        return file;
    void* address = ::mmap(nullptr, file.m_size, PROT_READ, MAP_SHARED, file.m_descriptor, 0);
    if (address == MAP_FAILED)
        return systemError(errno, "cannot map", path);
    file.m_data = static_cast<const std::byte*>(address);
    return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : m_data(std::exchange(other.m_data, nullptr))
    , m_size(std::exchange(other.m_size, 0))
    , m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_path(std::move(other.m_path))
{}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept
{
    std::swap(m_data, other.m_data);
    std::swap(m_size, other.m_size);
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_path, other.m_path);
    return *this;
}

MappedFile::~MappedFile()
{
    if (m_data != nullptr)
        ::munmap(const_cast<std::byte*>(m_data), m_size);
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

bool MappedFile::stillWhole() const
{
    return m_descriptor >= 0 && sizeNow() >= m_size;
}

std::uint64_t MappedFile::sizeNow() const
{
    struct stat status = {};
    return ::fstat(m_descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void MappedFile::releasePages(std::uint64_t offset, std::uint64_t size) const
{
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t begin = (offset + page - 1) / page * page;
    const std::uint64_t end = (offset + size) / page * page;
    if (begin >= end || end > m_size)
        return;
    // A hint only: when the system does not take it, nothing is lost but memory.
    ::madvise(const_cast<std::byte*>(m_data) + begin, end - begin, MADV_DONTNEED);
}

Result<std::string> readSmallFile(const std::filesystem::path& path, std::size_t limit)
{
    auto file = MappedFile::open(path);
    if (!file)
        return file.error();
    const auto bytes = file->bytes();
    if (bytes.size() > limit)
        return Error{Errc::Damaged,
                     "is " + std::to_string(bytes.size()) + " bytes long, more than the "
                         + std::to_string(limit) + " that such a file may have",
                     path.string(),
                     {}};
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

} // namespace moire::base
