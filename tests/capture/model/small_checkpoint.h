// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// Checkpoints of a few kilobytes, written with nothing of the rooms under test.
namespace moire::testing {

/// A tensor of fp32 zeros.
using Shapes = std::map<std::string, std::vector<std::uint64_t>>;

/// A sound config.json of one layer: hidden 8, 2 heads of 4, 1 key-value head, MLP 12, vocabulary
/// 16; OLMoE has 3 experts, of which 2 are chosen.
nlohmann::json llamaConfig();
nlohmann::json olmoeConfig();
/// The tensors of llamaConfig() and olmoeConfig(), under the hub's names.
Shapes llamaShapes();
Shapes olmoeShapes();

std::string readFile(const std::filesystem::path& path);
void writeFile(const std::filesystem::path& path, const std::string& bytes);

/// A file in memory with a path of its own, for tests that write thousands of them.
class MemoryFile
{
public:
    MemoryFile();
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::filesystem::path path() const;
    void write(const std::string& bytes);

private:
    int m_descriptor;
};

/// A safetensors file: the header as given, padded with spaces, and the data behind it.
std::string safetensorsBytes(const std::string& header, const std::string& data);
/// One that holds these tensors one after the other.
std::string safetensorsOf(const Shapes& shapes);

/// A folder with config.json and model.safetensors.
void writeFolder(const std::filesystem::path& folder, const nlohmann::json& config,
                 const Shapes& shapes);

/// Puts a GGUF file together, value by value; wrong ones too.
class GgufBytes
{
public:
    void value(const std::string& key, std::uint32_t number);
    void value(const std::string& key, float number);
    void value(const std::string& key, bool flag);
    void value(const std::string& key, const std::string& text);
    void texts(const std::string& key, const std::vector<std::string>& texts);
    /// A value of any kind, its bytes as given.
    void raw(const std::string& key, std::uint32_t kind, const std::string& bytes);
    /// `size` bytes of zeros; extents with the fastest first.
    void tensor(const std::string& name, const std::vector<std::uint64_t>& extents,
                std::uint32_t type, std::uint64_t size);

    std::uint32_t version = 3;
    /// Added to the true counts.
    std::uint64_t extraTensors = 0;
    std::uint64_t extraValues = 0;
    std::string bytes() const;
    /// The same without the padding behind the last tensor.
    std::size_t soundSize() const { return m_end; }

private:
    std::uint64_t m_values = 0;
    std::uint64_t m_tensors = 0;
    std::string m_metadata;
    std::string m_list;
    std::string m_data;
    mutable std::size_t m_end = 0;
};

std::string littleEndian(std::uint64_t number, std::size_t bytes);

/// llamaConfig() and its tensors as llama.cpp writes them, in fp32.
GgufBytes llamaGguf();

} // namespace moire::testing
