// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/partial_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace moire::report {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = ".part-";
constexpr std::size_t longestName = 255;
/// Mark and process number.
constexpr std::size_t roomForMark = 20;

/// A command writes one file at a time, the window a few. Each entry is taken away by exchange, so
/// that a handler and the owner never both have it.
constexpr std::size_t mostListed = 16;
std::array<std::atomic<char*>, mostListed> listed{};
static_assert(std::atomic<char*>::is_always_lock_free);

/// The name without the mark and what follows, cut to leave room for them.
std::string stemOf(const fs::path& path)
{
    return path.filename().string().substr(0, longestName - roomForMark);
}

/// What has our own number was left by a predecessor, or is locked by us.
bool isGone(pid_t process)
{
    return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

/// Nobody holds its lock, and it is a plain file of our own.
bool isAbandoned(const fs::path& path)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0)
        return false;
    struct stat status = {};
    const bool abandoned = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)
                           && status.st_uid == ::geteuid()
                           && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    ::close(descriptor);
    return abandoned;
}

} // namespace

fs::path partialPathOf(const fs::path& path)
{
    const std::string name = stemOf(path) + std::string(mark) + std::to_string(::getpid());
    return path.parent_path() / name;
}

void sweepPartialFiles(const fs::path& folder, const std::function<bool(std::string_view)>& isOurs)
{
    std::error_code stopped;
    for (fs::directory_iterator at(folder, stopped); !stopped && at != fs::directory_iterator();
         at.increment(stopped)) {
        const std::string name = at->path().filename().string();
        const std::size_t place = name.rfind(mark);
        if (place == std::string::npos || !isOurs(std::string_view(name).substr(0, place)))
            continue;
        pid_t process = 0;
        const char* const end = name.data() + name.size();
        const auto read = std::from_chars(name.data() + place + mark.size(), end, process);
        if (read.ec != std::errc() || read.ptr != end || process <= 0 || !isGone(process))
            continue;
        if (isAbandoned(at->path()))
            ::unlink(at->path().c_str());
    }
}

const char* listPartialFile(const fs::path& path)
{
    char* const name = ::strdup(path.c_str());
    for (auto& entry : listed) {
        char* none = nullptr;
        if (name != nullptr && entry.compare_exchange_strong(none, name))
            return name;
    }
    std::free(name);
    return nullptr;
}

void unlistPartialFile(const char* name)
{
    if (name == nullptr)
        return;
    for (auto& entry : listed) {
        char* ours = const_cast<char*>(name);
        if (entry.compare_exchange_strong(ours, nullptr)) {
            std::free(const_cast<char*>(name));
            return;
        }
    }
    // A handler has taken it, and the program ends.
}

void removePartialFiles()
{
    for (auto& entry : listed)
        if (const char* name = entry.exchange(nullptr))
            ::unlink(name);
}

} // namespace moire::report
