// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace moire::capture {

/// Keys (after rotation) and values of one sample, layer by layer, with room for a number of
/// positions that grows when more come.
class KvCache
{
public:
    /// `types`: the dtype of each layer's attention, in which it keeps them.
    KvCache(std::span<const at::ScalarType> types, std::int64_t kvHeads, std::int64_t headDim,
            std::int64_t capacity, at::Device device);

    std::int64_t length() const { return m_length; }
    /// Of length(), so many in front that are padding.
    std::int64_t hidden() const { return m_hidden; }
    void hide(std::int64_t rows) { m_hidden = rows; }

    /// Views of keys and values, kvHeads × (length() + rows) × headDim, after the new rows (rows ×
    /// kvHeads × headDim each) were written behind the old.
    struct View
    {
        at::Tensor keys, values;
    };
    View append(std::size_t layer, const at::Tensor& keys, const at::Tensor& values);
    /// To be called once every layer has appended, with the `rows` rows that stay; those behind
    /// them are overwritten.
    void advance(std::int64_t rows) { m_length += rows; }

private:
    struct Layer
    {
        at::Tensor keys, values; ///< kvHeads × capacity × headDim
    };
    void makeRoom(at::Tensor& table, std::int64_t rows) const;

    std::vector<Layer> m_layers;
    std::int64_t m_length = 0;
    std::int64_t m_hidden = 0;
};

} // namespace moire::capture
