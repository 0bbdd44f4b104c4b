// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/store/schema.h"

#include <cstdint>
#include <utility>

namespace moire::store {

/// An HDF5 identifier (hid_t), closed by its own function.
class Hdf5Handle
{
public:
    using Closer = int (*)(std::int64_t);
    Hdf5Handle() = default;
    Hdf5Handle(std::int64_t id, Closer closer)
        : m_id(id)
        , m_closer(closer)
    {}
    Hdf5Handle(Hdf5Handle&& other) noexcept
        : m_id(std::exchange(other.m_id, -1))
        , m_closer(other.m_closer)
    {}
    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept
    {
        std::swap(m_id, other.m_id);
        std::swap(m_closer, other.m_closer);
        return *this;
    }
    ~Hdf5Handle() { close(); }

    std::int64_t id() const { return m_id; }
    bool valid() const { return m_id >= 0; }
    /// False when HDF5 says that closing failed.
    bool close() { return m_id < 0 || m_closer(std::exchange(m_id, -1)) >= 0; }
    /// Gives the identifier up without closing it.
    void abandon() { m_id = -1; }

private:
    std::int64_t m_id = -1;
    Closer m_closer = nullptr;
};

/// The HDF5 type of a recorded dtype (FORMAT.md, section 2).
Hdf5Handle elementType(numeric::DType dtype);
/// The HDF5 type of a table's elements: numbers, or its compound type.
Hdf5Handle elementType(const TableSpec& table);

} // namespace moire::store
