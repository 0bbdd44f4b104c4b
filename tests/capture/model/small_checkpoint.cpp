// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/capture/model/small_checkpoint.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace moire::testing {

namespace {

using nlohmann::json;

constexpr std::uint64_t fp32Bytes = 4;
constexpr std::size_t alignment = 32;

json commonConfig()
{
    return {{"vocab_size", 16},         {"hidden_size", 8},         {"num_hidden_layers", 1},
            {"num_attention_heads", 2}, {"num_key_value_heads", 1}, {"max_position_embeddings", 32},
            {"rms_norm_eps", 1e-5},     {"hidden_act", "silu"},     {"rope_theta", 10000.0},
            {"rope_scaling", nullptr},  {"torch_dtype", "float32"}, {"tie_word_embeddings", false},
            {"attention_bias", false},  {"eos_token_id", 2}};
}

Shapes commonShapes()
{
    const std::string layer = "model.layers.0.";
    return {{"model.embed_tokens.weight", {16, 8}},
            {layer + "input_layernorm.weight", {8}},
            {layer + "self_attn.q_proj.weight", {8, 8}},
            {layer + "self_attn.k_proj.weight", {4, 8}},
            {layer + "self_attn.v_proj.weight", {4, 8}},
            {layer + "self_attn.o_proj.weight", {8, 8}},
            {layer + "post_attention_layernorm.weight", {8}},
            {"model.norm.weight", {8}},
            {"lm_head.weight", {16, 8}}};
}

std::uint64_t valuesOf(const std::vector<std::uint64_t>& shape)
{
    std::uint64_t values = 1;
    for (const std::uint64_t extent : shape)
        values *= extent;
    return values;
}

std::string text(const std::string& characters)
{
    return littleEndian(characters.size(), 8) + characters;
}

void pad(std::string& bytes)
{
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

} // namespace

json llamaConfig()
{
    json config = commonConfig();
    config["architectures"] = {"LlamaForCausalLM"};
    config["intermediate_size"] = 12;
    config["mlp_bias"] = false;
    return config;
}

json olmoeConfig()
{
    json config = commonConfig();
    config["architectures"] = {"OlmoeForCausalLM"};
    config["intermediate_size"] = 6;
    config["num_experts"] = 3;
    config["num_experts_per_tok"] = 2;
    config["norm_topk_prob"] = false;
    config["clip_qkv"] = 1.5;
    return config;
}

Shapes llamaShapes()
{
    Shapes shapes = commonShapes();
    shapes["model.layers.0.mlp.gate_proj.weight"] = {12, 8};
    shapes["model.layers.0.mlp.up_proj.weight"] = {12, 8};
    shapes["model.layers.0.mlp.down_proj.weight"] = {8, 12};
    return shapes;
}

Shapes olmoeShapes()
{
    Shapes shapes = commonShapes();
    shapes["model.layers.0.self_attn.q_norm.weight"] = {8};
    shapes["model.layers.0.self_attn.k_norm.weight"] = {4};
    shapes["model.layers.0.mlp.gate.weight"] = {3, 8};
    for (int expert = 0; expert < 3; ++expert) {
        const std::string prefix = "model.layers.0.mlp.experts." + std::to_string(expert) + ".";
        shapes[prefix + "gate_proj.weight"] = {6, 8};
        shapes[prefix + "up_proj.weight"] = {6, 8};
        shapes[prefix + "down_proj.weight"] = {8, 6};
    }
    return shapes;
}

std::string readFile(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void writeFile(const std::filesystem::path& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string littleEndian(std::uint64_t number, std::size_t bytes)
{
    std::string result(bytes, '\0');
    std::memcpy(result.data(), &number, bytes);
    return result;
}

MemoryFile::MemoryFile()
    : m_descriptor(::memfd_create("moire-test", MFD_CLOEXEC))
{
    if (m_descriptor < 0)
        throw std::system_error(errno, std::generic_category(), "memfd_create");
}

MemoryFile::~MemoryFile()
{
    ::close(m_descriptor);
}

std::filesystem::path MemoryFile::path() const
{
    return "/proc/self/fd/" + std::to_string(m_descriptor);
}

void MemoryFile::write(const std::string& bytes)
{
    if (::ftruncate(m_descriptor, static_cast<off_t>(bytes.size())) != 0
        || ::pwrite(m_descriptor, bytes.data(), bytes.size(), 0)
               != static_cast<ssize_t>(bytes.size()))
        throw std::system_error(errno, std::generic_category(), "memfd");
}

std::string safetensorsBytes(const std::string& header, const std::string& data)
{
    std::string padded = header;
    padded.resize((padded.size() + 7) / 8 * 8, ' ');
    return littleEndian(padded.size(), 8) + padded + data;
}

std::string safetensorsOf(const Shapes& shapes)
{
    json header = json::object();
    std::uint64_t end = 0;
    for (const auto& [name, shape] : shapes) {
        const std::uint64_t begin = end;
        end += valuesOf(shape) * fp32Bytes;
        header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, end}}};
    }
    return safetensorsBytes(header.dump(), std::string(end, '\0'));
}

void writeFolder(const std::filesystem::path& folder, const json& config, const Shapes& shapes)
{
    writeFile(folder / "config.json", config.dump());
    writeFile(folder / "model.safetensors", safetensorsOf(shapes));
}

void GgufBytes::raw(const std::string& key, std::uint32_t kind, const std::string& bytes)
{
    m_metadata += text(key) + littleEndian(kind, 4) + bytes;
    ++m_values;
}

void GgufBytes::value(const std::string& key, std::uint32_t number)
{
    raw(key, 4, littleEndian(number, 4));
}

void GgufBytes::value(const std::string& key, float number)
{
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    raw(key, 6, littleEndian(bits, 4));
}

void GgufBytes::value(const std::string& key, bool flag)
{
    raw(key, 7, littleEndian(flag ? 1 : 0, 1));
}

void GgufBytes::value(const std::string& key, const std::string& characters)
{
    raw(key, 8, text(characters));
}

void GgufBytes::texts(const std::string& key, const std::vector<std::string>& texts)
{
    std::string bytes = littleEndian(8, 4) + littleEndian(texts.size(), 8);
    for (const std::string& each : texts)
        bytes += text(each);
    raw(key, 9, bytes);
}

void GgufBytes::tensor(const std::string& name, const std::vector<std::uint64_t>& extents,
                       std::uint32_t type, std::uint64_t size)
{
    pad(m_data);
    m_list += text(name) + littleEndian(extents.size(), 4);
    for (const std::uint64_t extent : extents)
        m_list += littleEndian(extent, 8);
    m_list += littleEndian(type, 4) + littleEndian(m_data.size(), 8);
    m_data.resize(m_data.size() + size);
    ++m_tensors;
}

std::string GgufBytes::bytes() const
{
    std::string all = "GGUF" + littleEndian(version, 4) + littleEndian(m_tensors + extraTensors, 8)
                      + littleEndian(m_values + extraValues, 8) + m_metadata + m_list;
    pad(all);
    all += m_data;
    m_end = all.size();
    pad(all);
    return all;
}

GgufBytes llamaGguf()
{
    GgufBytes file;
    file.value("general.architecture", std::string("llama"));
    file.value("llama.block_count", 1U);
    file.value("llama.context_length", 32U);
    file.value("llama.embedding_length", 8U);
    file.value("llama.feed_forward_length", 12U);
    file.value("llama.attention.head_count", 2U);
    file.value("llama.attention.head_count_kv", 1U);
    file.value("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    file.value("llama.rope.freq_base", 10000.0F);
    const Shapes shapes{{"token_embd.weight", {8, 16}},   {"output_norm.weight", {8}},
                        {"output.weight", {8, 16}},       {"blk.0.attn_norm.weight", {8}},
                        {"blk.0.attn_q.weight", {8, 8}},  {"blk.0.attn_k.weight", {8, 4}},
                        {"blk.0.attn_v.weight", {8, 4}},  {"blk.0.attn_output.weight", {8, 8}},
                        {"blk.0.ffn_norm.weight", {8}},   {"blk.0.ffn_gate.weight", {8, 12}},
                        {"blk.0.ffn_up.weight", {8, 12}}, {"blk.0.ffn_down.weight", {12, 8}}};
    for (const auto& [name, extents] : shapes)
        file.tensor(name, extents, 0, valuesOf(extents) * fp32Bytes);
    return file;
}

} // namespace moire::testing
