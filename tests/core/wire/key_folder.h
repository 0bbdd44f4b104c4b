// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/keys.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdlib.h>
#include <string>
#include <system_error>

namespace moire::wire::test {

/// A daemon's folder of keys, which goes with this: its own, and those of a client that may come
/// in, "me".
class KeyFolder
{
public:
    KeyFolder()
    {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "moire_keys_XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            giveUp();
        m_path = pattern;
        std::filesystem::create_directory(m_path / "clients");
        if (!writeKeyPair(m_path / "server", daemon) || !writeKeyPair(m_path / "me", mine)
            || !writeKeyPair(m_path / "clients" / "me", mine))
            giveUp();
    }
    ~KeyFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    KeyFolder(const KeyFolder&) = delete;
    KeyFolder& operator=(const KeyFolder&) = delete;

    const std::filesystem::path& path() const { return m_path; }

    const KeyPair daemon = *makeKeyPair(); ///< server.key, server.pub
    const KeyPair mine = *makeKeyPair();   ///< me.key, me.pub

private:
    [[noreturn]] static void giveUp()
    {
        std::fprintf(stderr, "the keys cannot be written\n");
        std::exit(2);
    }

    std::filesystem::path m_path;
};

} // namespace moire::wire::test
