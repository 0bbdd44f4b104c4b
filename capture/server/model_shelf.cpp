// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/model_shelf.h"

#include "core/base/text.h"
#include "core/numeric/digest.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace moire::capture {

namespace fs = std::filesystem;

namespace {

constexpr int deepestFolder = 6;         ///< below the shelf; a hub's cache has models at the third
constexpr std::size_t mostModels = 4096; ///< a list that no client could read helps nobody
constexpr std::size_t longestName = 1024;

Error badName(const std::string& name)
{
    return {Errc::Invalid, "is no name of a model below the daemon's folder",
            base::visibleText(name), "Take a name from the list of models"};
}

/// A relative path of plain parts.
bool isPlainName(const std::string& name)
{
    if (name.empty() || name.size() > longestName || !base::isValidUtf8(name))
        return false;
    if (std::any_of(name.begin(), name.end(),
                    [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\\'; }))
        return false;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        const std::string part = name.substr(begin, end - begin);
        if (part.empty() || part == "." || part == "..")
            return false;
        begin = end + 1;
    }
    return true;
}

bool isGguf(const fs::path& path)
{
    return path.extension() == ".gguf";
}

/// The regular files that a model is made of.
std::vector<fs::directory_entry> filesOf(const fs::path& model)
{
    std::vector<fs::directory_entry> files;
    std::error_code ignored;
    if (!fs::is_directory(model, ignored)) {
        files.emplace_back(model);
        return files;
    }
    for (const auto& entry : fs::directory_iterator(model, ignored))
        if (entry.is_regular_file(ignored))
            files.push_back(entry);
    std::sort(files.begin(), files.end());
    return files;
}

/// Changes when a file of the model is replaced, changed, added or removed.
std::uint64_t signatureOf(const std::vector<fs::directory_entry>& files)
{
    std::vector<std::uint64_t> words;
    std::error_code ignored;
    for (const auto& file : files) {
        const std::string name = file.path().filename().string();
        words.push_back(
            numeric::bytesDigest(reinterpret_cast<const std::byte*>(name.data()), name.size()));
        words.push_back(file.file_size(ignored));
        words.push_back(
            static_cast<std::uint64_t>(file.last_write_time(ignored).time_since_epoch().count()));
    }
    return numeric::wordsDigest(words.data(), words.size());
}

} // namespace

Result<std::uint64_t> ShelvedModel::weightDigest() const
{
    const std::lock_guard lock(m_mutex);
    if (m_digest)
        return *m_digest;
    const auto digest = capture::weightDigest(*checkpoint.weights);
    if (digest)
        m_digest = *digest;
    return digest;
}

Result<std::unique_ptr<ModelShelf>> ModelShelf::open(const fs::path& folder)
{
    std::error_code trouble;
    const fs::path whole = fs::canonical(folder, trouble);
    if (trouble || !fs::is_directory(whole, trouble))
        return Error{Errc::NotFound, "is no folder of models", folder.string(),
                     "Name with --models the folder that holds them"};
    return std::unique_ptr<ModelShelf>(new ModelShelf(whole));
}

bool ModelShelf::isInside(const fs::path& path) const
{
    std::error_code trouble;
    const fs::path real = fs::canonical(path, trouble);
    if (trouble)
        return false;
    const auto [shelf, rest] =
        std::mismatch(m_folder.begin(), m_folder.end(), real.begin(), real.end());
    return shelf == m_folder.end() && rest != real.end();
}

Result<fs::path> ModelShelf::find(const std::string& name) const
{
    std::string plain = name;
    if (plain.size() > 1 && plain.ends_with('/'))
        plain.pop_back();
    if (!isPlainName(plain))
        return badName(name);
    const fs::path path = m_folder / plain;
    std::error_code ignored;
    const bool isModel =
        isGguf(path) ? fs::is_regular_file(path, ignored)
                     : fs::is_directory(path, ignored) && fs::exists(path / "config.json", ignored);
    if (!isModel)
        return Error{Errc::NotFound, "there is no such model", base::visibleText(name),
                     "Take a name from the list of models"};
    if (auto checked = checkContent(path); !checked)
        return checked.error();
    return path;
}

/// What a link leads to counts, and neither the model nor a file of it may lie outside.
Result<void> ModelShelf::checkContent(const fs::path& model) const
{
    std::vector<fs::directory_entry> files = filesOf(model);
    files.emplace_back(model);
    for (const auto& file : files)
        if (!isInside(file.path()))
            return Error{Errc::Invalid, "a link leads out of the daemon's folder of models",
                         file.path().lexically_relative(m_folder).string(),
                         "Put the files themselves there, or name their folder with --models"};
    return {};
}

std::vector<std::string> ModelShelf::names() const
{
    std::vector<std::string> names;
    std::error_code trouble;
    fs::recursive_directory_iterator place(m_folder, fs::directory_options::skip_permission_denied,
                                           trouble);
    for (; !trouble && place != fs::recursive_directory_iterator() && names.size() < mostModels;
         place.increment(trouble)) {
        std::error_code ignored;
        const bool isFolder = place->is_directory(ignored);
        const bool isModel = isFolder ? fs::exists(place->path() / "config.json", ignored)
                                      : isGguf(place->path()) && place->is_regular_file(ignored);
        if (isModel)
            names.push_back(place->path().lexically_relative(m_folder).string());
        if (isFolder && (isModel || place.depth() + 1 >= deepestFolder))
            place.disable_recursion_pending();
    }
    std::sort(names.begin(), names.end());
    return names;
}

wire::ModelEntry ModelShelf::entryOf(const std::string& name)
{
    wire::ModelEntry entry;
    entry.name = name;
    const fs::path path = m_folder / name;
    entry.kind = isGguf(path) ? "gguf" : "folder";
    const auto files = filesOf(path);
    const std::uint64_t signature = signatureOf(files);
    {
        const std::lock_guard lock(m_mutex);
        const auto known = m_known.find(name);
        if (known != m_known.end() && known->second.signature == signature)
            return known->second.entry;
    }
    std::error_code ignored;
    for (const auto& file : files)
        entry.bytes += file.file_size(ignored);
    const auto found = find(name);
    const auto checkpoint = found ? openCheckpoint(path) : Result<Checkpoint>(found.error());
    if (checkpoint)
        entry.architecture = checkpoint->plan.architecture;
    else
        entry.problem = checkpoint.error().sentence;
    const std::lock_guard lock(m_mutex);
    m_known[name] = {signature, entry};
    return entry;
}

std::vector<wire::ModelEntry> ModelShelf::entries()
{
    std::vector<wire::ModelEntry> entries;
    for (const std::string& name : names())
        if (base::isValidUtf8(name))
            entries.push_back(entryOf(name));
    return entries;
}

Result<std::shared_ptr<const ShelvedModel>> ModelShelf::model(const std::string& name)
{
    const auto path = find(name);
    if (!path)
        return path.error();
    const std::uint64_t signature = signatureOf(filesOf(*path));
    {
        const std::lock_guard lock(m_mutex);
        if (m_recent && m_recent->path == *path && m_recent->signature == signature)
            return m_recent;
    }
    auto checkpoint = openCheckpoint(*path);
    if (!checkpoint) {
        Error error = checkpoint.error();
        error.place = base::visibleText(name); // nobody needs to know where the shelf stands
        return error;
    }
    auto shelved = std::make_shared<ShelvedModel>();
    shelved->name = name;
    shelved->path = *path;
    shelved->signature = signature;
    shelved->checkpoint = *std::move(checkpoint);
    const std::lock_guard lock(m_mutex);
    m_recent = shelved;
    return std::shared_ptr<const ShelvedModel>(shelved);
}

} // namespace moire::capture
