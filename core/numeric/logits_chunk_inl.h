// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CORE_NUMERIC_LOGITS_CHUNK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CORE_NUMERIC_LOGITS_CHUNK_INL_H
#undef MOIRE_CORE_NUMERIC_LOGITS_CHUNK_INL_H
#else
#define MOIRE_CORE_NUMERIC_LOGITS_CHUNK_INL_H
#endif

#include "core/numeric/element_words_inl.h"
#include "core/numeric/logits_kernel.h"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {

using Doubles = hn::Vec<DoubleTag>;

/// Entries that weigh nothing fill the last chunk: their logits lie this far below the largest, so
/// that e^(β·s) is 0 for every β allowed.
inline constexpr float fillDepth = 4000;

template <class L>
void widenAll(const std::byte* data, std::size_t count, float* out)
{
    const auto* words = reinterpret_cast<const typename L::Word*>(data);
    for (std::size_t i = 0; i < count; i += shortLanes)
        hn::StoreU(widenShort(L{}, words + i), ShortTag(), out + i);
}

/// One chunk of a row as fp32, in place when it is that already; filled up to whole stripes.
class FloatChunk
{
public:
    FloatChunk(const std::byte* data, DType dtype, std::size_t count, float fill)
        : m_data(data)
        , m_dtype(dtype)
        , m_size(dtype == DType::FP32 ? sizeof(float) : sizeof(std::uint16_t))
        , m_count(count)
        , m_fill(fill)
    {}

    const float* at(std::size_t begin)
    {
        const std::size_t count = std::min(logitsChunk, m_count - begin);
        const std::size_t whole = count / elementStripes * elementStripes;
        const std::byte* data = m_data + begin * m_size;
        if (m_dtype == DType::FP32 && whole == count)
            return reinterpret_cast<const float*>(data);
        widenWhole(data, whole);
        if (whole < count) {
            alignas(64) std::byte rest[elementStripes * sizeof(float)] = {};
            std::memcpy(rest, data + whole * m_size, (count - whole) * m_size);
            widenInto(rest, elementStripes, m_values + whole);
            std::fill(m_values + count, m_values + whole + elementStripes, m_fill);
        }
        return m_values;
    }
    /// Elements of the chunk, whole stripes.
    std::size_t filled(std::size_t begin) const
    {
        const std::size_t count = std::min(logitsChunk, m_count - begin);
        return (count + elementStripes - 1) / elementStripes * elementStripes;
    }

private:
    void widenWhole(const std::byte* data, std::size_t count) { widenInto(data, count, m_values); }
    void widenInto(const std::byte* data, std::size_t count, float* out) const
    {
        if (m_dtype == DType::BF16)
            widenAll<Bf16Layout>(data, count, out);
        else if (m_dtype == DType::FP16)
            widenAll<Fp16Layout>(data, count, out);
        else
            std::memcpy(out, data, count * sizeof(float));
    }

    const std::byte* m_data;
    DType m_dtype;
    std::size_t m_size;
    std::size_t m_count;
    float m_fill;
    alignas(64) float m_values[logitsChunk];
};

inline double totalOf(const double* stripes)
{
    double s[elementStripes];
    std::copy_n(stripes, elementStripes, s);
    for (std::size_t half = elementStripes / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i)
            s[i] += s[i + half];
    return s[0];
}

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
