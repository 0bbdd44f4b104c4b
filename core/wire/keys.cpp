// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/keys.h"

#include <zmq.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sodium/crypto_hash_sha256.h>
#include <span>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace moire::wire {

namespace {

constexpr std::size_t keyCharacters = 40;
constexpr std::size_t keyBytes = 32;
/// A key file is some lines; a larger file is another thing.
constexpr std::size_t longestFile = 4096;
constexpr const char* secretWord = "secret ";
constexpr const char* publicWord = "public ";

bool isKey(const std::string& text)
{
    std::array<std::uint8_t, keyBytes> bytes{};
    return text.size() == keyCharacters && zmq_z85_decode(bytes.data(), text.c_str()) != nullptr;
}

Error systemTrouble(const std::filesystem::path& path, const std::string& what)
{
    const int number = errno;
    return {number == ENOENT ? Errc::NotFound : Errc::Io,
            what + ": " + std::generic_category().message(number),
            path.string(),
            {}};
}

/// A descriptor that closes itself.
class File
{
public:
    explicit File(int descriptor)
        : m_descriptor(descriptor)
    {}
    ~File()
    {
        if (m_descriptor >= 0)
            ::close(m_descriptor);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int get() const { return m_descriptor; }

private:
    int m_descriptor;
};

Result<std::string> readSmallFile(const std::filesystem::path& path, bool isSecret)
{
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat state
    {
    };
    if (file.get() < 0 || ::fstat(file.get(), &state) != 0)
        return systemTrouble(path, "cannot read the key");
    if (!S_ISREG(state.st_mode) || state.st_size > static_cast<off_t>(longestFile))
        return Error{Errc::Invalid, "this is no file with a key", path.string(), {}};
    if (isSecret && (state.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return Error{
            Errc::Invalid, "other users may read this secret key", path.string(),
            "Make it yours alone with chmod 600, or make another with moire-capture keygen"};
    std::string text(longestFile, '\0');
    const ssize_t got = ::read(file.get(), text.data(), text.size());
    if (got < 0)
        return systemTrouble(path, "cannot read the key");
    text.resize(static_cast<std::size_t>(got));
    return text;
}

/// The word behind `label` at the beginning of a line; with an empty label the first line that is
/// neither empty nor a remark.
std::optional<std::string> lineOf(const std::string& text, const std::string& label)
{
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        begin = end + 1;
        while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
            line.pop_back();
        if (!line.empty() && line.front() != '#' && line.starts_with(label))
            return line.substr(label.size());
    }
    return std::nullopt;
}

Error noKey(const std::filesystem::path& path)
{
    return {Errc::Invalid, "this file holds no key", path.string(),
            "moire-capture keygen makes NAME.key and NAME.pub"};
}

Result<void> writeNew(const std::filesystem::path& path, const std::string& text, mode_t mode)
{
    const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.get() < 0 && errno == EEXIST)
        return Error{Errc::Invalid, "this file is there already, and keys are never overwritten",
                     path.string(), "Choose another name, or remove it"};
    if (file.get() < 0)
        return systemTrouble(path, "cannot write the key");
    std::span<const char> rest(text);
    while (!rest.empty()) {
        const ssize_t wrote = ::write(file.get(), rest.data(), rest.size());
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            const Error trouble = systemTrouble(path, "cannot write the key");
            ::unlink(path.c_str());
            return trouble;
        }
        rest = rest.subspan(static_cast<std::size_t>(wrote));
    }
    if (::fsync(file.get()) != 0)
        return systemTrouble(path, "cannot write the key");
    return {};
}

std::filesystem::path withEnding(const std::filesystem::path& stem, const char* ending)
{
    std::filesystem::path path = stem;
    path += ending;
    return path;
}

} // namespace

Result<KeyPair> makeKeyPair()
{
    std::array<char, keyCharacters + 1> publicKey{};
    std::array<char, keyCharacters + 1> secretKey{};
    if (zmq_curve_keypair(publicKey.data(), secretKey.data()) != 0)
        return Error{Errc::Unsupported, "this libzmq was built without CURVE", {}, {}};
    return KeyPair{publicKey.data(), secretKey.data()};
}

Result<std::string> publicKeyOf(const std::string& secretKey)
{
    std::array<char, keyCharacters + 1> publicKey{};
    if (!isKey(secretKey) || zmq_curve_public(publicKey.data(), secretKey.c_str()) != 0)
        return Error{Errc::Invalid, "a secret key is 40 characters of Z85", {}, {}};
    return std::string(publicKey.data());
}

Result<void> writeKeyPair(const std::filesystem::path& stem, const KeyPair& pair)
{
    const auto keyFile = withEnding(stem, ".key");
    const auto publicFile = withEnding(stem, ".pub");
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(publicFile, ignored)))
        return Error{Errc::Invalid, "this file is there already, and keys are never overwritten",
                     publicFile.string(), "Choose another name, or remove it"};
    constexpr mode_t ownerOnly = S_IRUSR | S_IWUSR;
    constexpr mode_t everybody = ownerOnly | S_IRGRP | S_IROTH;
    const std::string publicLine = publicWord + pair.publicKey + '\n';
    if (auto written = writeNew(keyFile,
                                "# Moire CURVE key; keep it secret\n" + publicLine + secretWord
                                    + pair.secretKey + '\n',
                                ownerOnly);
        !written)
        return written;
    if (auto written = writeNew(publicFile, pair.publicKey + '\n', everybody); !written) {
        std::filesystem::remove(keyFile, ignored);
        return written;
    }
    return {};
}

Result<KeyPair> readKeyPair(const std::filesystem::path& keyFile)
{
    const auto text = readSmallFile(keyFile, true);
    if (!text)
        return text.error();
    const auto secret = lineOf(*text, secretWord);
    if (!secret || !isKey(*secret))
        return noKey(keyFile);
    auto known = publicKeyOf(*secret);
    if (!known)
        return known.error();
    if (const auto said = lineOf(*text, publicWord); said && *said != *known)
        return Error{Errc::Invalid,
                     "the public key in this file is not that of its secret key",
                     keyFile.string(),
                     {}};
    return KeyPair{*std::move(known), *secret};
}

Result<std::string> readPublicKey(const std::string& keyOrFile)
{
    std::error_code ignored;
    if (isKey(keyOrFile) && !std::filesystem::exists(keyOrFile, ignored))
        return keyOrFile;
    const std::filesystem::path path(keyOrFile);
    if (path.extension() == ".key") {
        const auto pair = readKeyPair(path);
        if (!pair)
            return pair.error();
        return pair->publicKey;
    }
    const auto text = readSmallFile(path, false);
    if (!text)
        return text.error();
    const auto key = lineOf(*text, {});
    if (!key || !isKey(*key))
        return noKey(path);
    return *key;
}

std::set<std::string> soundKeys(const std::filesystem::path& folder, std::vector<Error>& troubles)
{
    std::error_code failed;
    std::set<std::string> keys;
    std::filesystem::directory_iterator entry(folder, failed);
    for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
        if (entry->path().extension() != ".pub")
            continue;
        auto key = readPublicKey(entry->path().string());
        if (key)
            keys.insert(*std::move(key));
        else if (key.error().code != Errc::NotFound) // else removed meanwhile
            troubles.push_back(key.error());
    }
    if (failed)
        troubles.push_back(
            {failed == std::errc::no_such_file_or_directory ? Errc::NotFound : Errc::Io,
             "cannot read the folder of authorised keys: " + failed.message(), folder.string(),
             "Make it, and put the clients' .pub files there"});
    return keys;
}

Result<std::set<std::string>> readAuthorisedKeys(const std::filesystem::path& folder)
{
    std::vector<Error> troubles;
    auto keys = soundKeys(folder, troubles);
    if (!troubles.empty())
        return troubles.front();
    return keys;
}

std::string fingerprintOf(const std::string& publicKey)
{
    constexpr std::size_t shownBytes = 16;
    std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
    crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(publicKey.data()),
                       publicKey.size());
    std::string text;
    for (std::size_t i = 0; i < shownBytes; ++i) {
        std::array<char, 3> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(digest[i]));
        text += (i > 0 && i % 2 == 0 ? " " : "") + std::string(digits.data());
    }
    return text;
}

} // namespace moire::wire
