// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

/// CURVE keys as files (PROTOCOL.md, 8).
namespace moire::wire {

/// Z85 text of 40 characters.
struct KeyPair
{
    std::string publicKey;
    std::string secretKey;
};

Result<KeyPair> makeKeyPair();
/// The public key that belongs to a secret one.
Result<std::string> publicKeyOf(const std::string& secretKey);

/// Writes `stem`.key (mode 0600, made so before a byte is in it) and `stem`.pub. Errors: Invalid
/// when one of them is there already; Io.
Result<void> writeKeyPair(const std::filesystem::path& stem, const KeyPair& pair);
/// Errors: NotFound; Invalid (no key; a secret that others can read); Io.
Result<KeyPair> readKeyPair(const std::filesystem::path& keyFile);
/// A key as 40 characters of Z85, or the name of a .pub (or .key) file.
Result<std::string> readPublicKey(const std::string& keyOrFile);
/// The keys of all *.pub files of a folder. A file that holds no key is an error that names it.
Result<std::set<std::string>> readAuthorisedKeys(const std::filesystem::path& folder);

/// The same for who must not stop at such a file: those that hold one, and what was wrong with the
/// others.
std::set<std::string> soundKeys(const std::filesystem::path& folder, std::vector<Error>& troubles);

/// A key for people to compare: the first 32 hex digits of the SHA-256 of its text, in eight
/// groups.
std::string fingerprintOf(const std::string& publicKey);

} // namespace moire::wire
