// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/private_folder.h"

#include "core/base/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace moire::app {

namespace fs = std::filesystem;

std::string plainFileName(const std::string& name)
{
    constexpr std::size_t longest = 100;
    std::string plain = name.substr(name.find_last_of("/\\") + 1);
    plain.resize(std::min(plain.size(), longest));
    for (char& c : plain) {
        const bool known = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                           || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
        c = known ? c : '_';
    }
    if (plain.find_first_not_of('.') == std::string::npos)
        return "file";
    return plain;
}

Result<PrivateFolder> PrivateFolder::make()
{
    std::error_code trouble;
    const fs::path system = fs::temp_directory_path(trouble);
    if (trouble)
        return base::systemError(trouble.value(), "there is no folder for temporary files", system);
    std::string path = (system / "moire-request-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) // mode 0700
        return base::systemError(errno, "a temporary folder cannot be made", system);
    return PrivateFolder(path);
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {}))
{}

PrivateFolder::~PrivateFolder()
{
    std::error_code ignored;
    if (!m_path.empty())
        fs::remove_all(m_path, ignored);
}

Result<fs::path> PrivateFolder::write(const std::string& name,
                                      std::span<const std::byte> content) const
{
    constexpr mode_t ownerOnly = 0600;
    const fs::path path = m_path / plainFileName(name);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, ownerOnly);
    if (descriptor < 0 && errno == EEXIST)
        return Error{Errc::Invalid, "two files of the request have one name",
                     path.filename().string(), "Give them names of their own"};
    if (descriptor < 0)
        return base::systemError(errno, "cannot be made", path);
    int trouble = 0;
    for (std::size_t done = 0; done < content.size() && trouble == 0;) {
        const ssize_t count = ::write(descriptor, content.data() + done, content.size() - done);
        if (count > 0)
            done += static_cast<std::size_t>(count);
        else if (count == 0 || errno != EINTR)
            trouble = count == 0 ? ENOSPC : errno;
    }
    ::close(descriptor);
    if (trouble != 0)
        return base::systemError(trouble, "cannot be written", path);
    return path;
}

} // namespace moire::app
