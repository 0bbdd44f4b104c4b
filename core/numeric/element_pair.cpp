// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/element_pair.h"

#include "core/numeric/element_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace moire::numeric {

namespace {

using Stripes = std::array<double, elementStripes>;

/// Adds the stripes as the balanced tree of the header.
double total(Stripes s)
{
    for (std::size_t half = elementStripes / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i)
            s[i] += s[i + half];
    return s[0];
}

bool hasKernel(DType dtype)
{
    return dtype == DType::BF16 || dtype == DType::FP16 || dtype == DType::FP32;
}

std::uint64_t saturatingAdd(std::uint64_t a, std::uint64_t b)
{
    return a > std::numeric_limits<std::uint64_t>::max() - b
               ? std::numeric_limits<std::uint64_t>::max()
               : a + b;
}

} // namespace

double elementDifference(std::uint64_t reference, DType referenceType, std::uint64_t target,
                         DType targetType)
{
    const double r = toDouble(reference, referenceType);
    const double t = toDouble(target, targetType);
    const bool wide = referenceType == DType::I64 || targetType == DType::I64;
    if (!wide || !std::isfinite(r) || !std::isfinite(t))
        return t - r;
    // What rounding took off an integer is a small one itself.
    const auto lost = [](std::uint64_t bits, DType dtype, double rounded) {
        if (dtype != DType::I64)
            return 0.0;
        const auto value = static_cast<std::int64_t>(bits);
        constexpr double beyond = 0x1p63; // what the largest integers round to is none itself
        return rounded < beyond
                   ? static_cast<double>(value - static_cast<std::int64_t>(rounded))
                   : static_cast<double>(value - std::numeric_limits<std::int64_t>::max()) - 1;
    };
    return (t - r) + (lost(target, targetType, t) - lost(reference, referenceType, r));
}

ElementSums compareElementsScalar(const std::byte* reference, DType referenceType,
                                  const std::byte* target, DType targetType, std::size_t width)
{
    ElementSums sums;
    constexpr std::size_t kinds = 5;
    std::array<Stripes, kinds> row{};
    std::array<Stripes, kinds> chunk{};
    auto& [sumAbs, sumSquares, referenceSquares, targetSquares, dot] = chunk;
    const auto endChunk = [&] {
        for (std::size_t kind = 0; kind < kinds; ++kind)
            for (std::size_t j = 0; j < elementStripes; ++j)
                row[kind][j] += std::exchange(chunk[kind][j], 0.0);
    };
    const std::size_t whole = width - width % elementStripes;
    bool worstIsClassChange = false;
    double worstAbs = -1;
    const bool sameType = referenceType == targetType;
    for (std::size_t i = 0; i < width; ++i) {
        if (i % elementChunk == 0 || i == whole)
            endChunk();
        const std::uint64_t a = bitsAt(reference, referenceType, i);
        const std::uint64_t b = bitsAt(target, targetType, i);
        const double r = toDouble(a, referenceType);
        const double t = toDouble(b, targetType);
        const double d = elementDifference(a, referenceType, b, targetType);
        const bool alike = r == t && (d == 0 || !std::isfinite(r));
        const bool unequal = sameType ? a != b : !(alike || (std::isnan(r) && std::isnan(t)));
        sums.unequal += unequal ? 1 : 0;
        const bool classChange = unequal && classOf(a, referenceType) != classOf(b, targetType);
        if (classChange) {
            ++sums.classChanges;
            if (!worstIsClassChange) {
                worstIsClassChange = true;
                sums.worst = static_cast<std::uint32_t>(i);
            }
        }
        if (unequal && sameType) {
            if (const auto ulps = ulpDistance(a, b, referenceType)) {
                sums.maxUlp = std::max(sums.maxUlp, *ulps);
                sums.sumUlp = saturatingAdd(sums.sumUlp, *ulps);
            }
        }
        if (!std::isfinite(r) || !std::isfinite(t))
            continue;
        ++sums.finite;
        const std::size_t stripe = i % elementStripes;
        sumAbs[stripe] += std::fabs(d);
        sumSquares[stripe] += d * d;
        referenceSquares[stripe] += r * r;
        targetSquares[stripe] += t * t;
        dot[stripe] += r * t;
        sums.maxAbs = std::max(sums.maxAbs, std::fabs(d));
        if (unequal && !worstIsClassChange && std::fabs(d) > worstAbs) {
            worstAbs = std::fabs(d);
            sums.worst = static_cast<std::uint32_t>(i);
        }
    }
    endChunk();
    sums.sumAbs = total(row[0]);
    sums.sumSquares = total(row[1]);
    sums.referenceSquares = total(row[2]);
    sums.targetSquares = total(row[3]);
    sums.dot = total(row[4]);
    return sums;
}

namespace {

/// The first pair of unequal bits that is finite on both sides; 0 when there is none.
std::uint32_t firstUnequal(const std::byte* reference, const std::byte* target, DType dtype,
                           std::size_t width)
{
    for (std::size_t i = 0; i < width; ++i) {
        const std::uint64_t a = bitsAt(reference, dtype, i);
        const std::uint64_t b = bitsAt(target, dtype, i);
        if (a != b && std::isfinite(toDouble(a, dtype)) && std::isfinite(toDouble(b, dtype)))
            return static_cast<std::uint32_t>(i);
    }
    return 0;
}

/// One row's fold over its chunks.
class RowFold
{
public:
    RowFold(const std::byte* reference, const std::byte* target, DType dtype, std::size_t width)
        : m_reference(reference)
        , m_target(target)
        , m_dtype(dtype)
        , m_size(sizeOf(dtype))
        , m_width(width)
    {}

    ElementSums run()
    {
        m_sums.allNormal = m_width > 0;
        clearStripes(m_stripes);
        const std::size_t whole = m_width - m_width % elementStripes;
        for (std::size_t i = 0; i < whole; i += elementChunk) {
            const std::size_t count = std::min(elementChunk, whole - i);
            const std::byte* r = m_reference + i * m_size;
            const std::byte* t = m_target + i * m_size;
            add(compareChunk(r, t, m_dtype, count, m_stripes), i);
        }
        if (whole < m_width)
            addRest(whole);
        finish();
        return m_sums;
    }

private:
    /// The last elements, filled up with pairs of zeros, which change nothing but `finite`.
    void addRest(std::size_t begin)
    {
        const std::size_t rest = m_width - begin;
        std::memset(m_restReference, 0, sizeof m_restReference);
        std::memset(m_restTarget, 0, sizeof m_restTarget);
        std::memcpy(m_restReference, m_reference + begin * m_size, rest * m_size);
        std::memcpy(m_restTarget, m_target + begin * m_size, rest * m_size);
        ElementChunk chunk =
            compareChunk(m_restReference, m_restTarget, m_dtype, elementStripes, m_stripes);
        chunk.finite -= static_cast<std::uint32_t>(elementStripes - rest);
        chunk.normal = true;
        for (std::size_t i = begin; i < m_width; ++i)
            chunk.normal =
                chunk.normal
                && classOf(bitsAt(m_reference, m_dtype, i), m_dtype) == ValueClass::Normal
                && classOf(bitsAt(m_target, m_dtype, i), m_dtype) == ValueClass::Normal;
        add(chunk, begin);
    }

    void add(const ElementChunk& chunk, std::size_t begin)
    {
        if (chunk.classChanges > 0 && m_sums.classChanges == 0)
            m_sums.worst = static_cast<std::uint32_t>(begin + chunk.firstChange);
        if (chunk.maxAbs > m_sums.maxAbs)
            m_largestBegin = begin + chunk.largestBegin;
        m_sums.allNormal = m_sums.allNormal && chunk.normal;
        m_sums.unequal += chunk.unequal;
        m_sums.classChanges += chunk.classChanges;
        m_sums.finite += chunk.finite;
        m_sums.maxUlp = std::max(m_sums.maxUlp, chunk.maxUlp);
        m_sums.sumUlp = saturatingAdd(m_sums.sumUlp, chunk.sumUlp);
        m_sums.maxAbs = std::max(m_sums.maxAbs, chunk.maxAbs);
    }

    void finish()
    {
        totalStripes(m_stripes, m_sums);
        if (m_sums.unequal > 0 && m_sums.classChanges == 0)
            m_sums.worst = m_sums.maxAbs > 0
                               ? findLargest()
                               : firstUnequal(m_reference, m_target, m_dtype, m_width);
    }

    std::uint32_t findLargest() const
    {
        const std::size_t whole = m_width - m_width % elementStripes;
        const std::size_t begin = m_largestBegin;
        const std::size_t place =
            begin >= whole
                ? findDifference(m_restReference, m_restTarget, m_dtype, elementStripes,
                                 m_sums.maxAbs)
                : findDifference(m_reference + begin * m_size, m_target + begin * m_size, m_dtype,
                                 std::min(largestSpan, whole - begin), m_sums.maxAbs);
        return static_cast<std::uint32_t>(begin + place);
    }

    const std::byte* m_reference;
    const std::byte* m_target;
    DType m_dtype;
    std::size_t m_size;
    std::size_t m_width;
    ElementStripes m_stripes;
    ElementSums m_sums;
    std::size_t m_largestBegin = 0;
    std::byte m_restReference[elementStripes * sizeof(float)]; ///< set where there is a rest
    std::byte m_restTarget[elementStripes * sizeof(float)];
};

} // namespace

ElementSums compareElements(const std::byte* reference, DType referenceType,
                            const std::byte* target, DType targetType, std::size_t width)
{
    if (referenceType == targetType && hasKernel(referenceType))
        return RowFold(reference, target, referenceType, width).run();
    return compareElementsScalar(reference, referenceType, target, targetType, width);
}

namespace {

/// The same for two rows of one dtype of kernels, its layout looked up once.
template <class Word>
void countClassesOf(const std::byte* reference, const std::byte* target, DType dtype,
                    std::size_t width, std::uint64_t* matrix)
{
    const FloatLayout layout = layoutOf(dtype);
    const auto mantissaBits = static_cast<unsigned>(layout.mantissaBits);
    const auto smallestNormal = static_cast<Word>(Word{1} << mantissaBits);
    const auto infinity = static_cast<Word>(
        ((std::uint64_t{1} << static_cast<unsigned>(layout.exponentBits)) - 1) << mantissaBits);
    const auto magnitude = static_cast<Word>(static_cast<Word>(~Word{0}) >> 1U);
    const auto classOfBits = [&](Word bits) {
        const auto m = static_cast<Word>(bits & magnitude);
        if (m >= infinity)
            return m > infinity ? ValueClass::NaN
                                : (bits == m ? ValueClass::PlusInf : ValueClass::MinusInf);
        if (m >= smallestNormal)
            return ValueClass::Normal;
        return m == 0 ? ValueClass::Zero : ValueClass::Subnormal;
    };
    for (std::size_t i = 0; i < width; ++i) {
        Word a;
        Word b;
        std::memcpy(&a, reference + i * sizeof(Word), sizeof a);
        std::memcpy(&b, target + i * sizeof(Word), sizeof b);
        ++matrix[static_cast<std::size_t>(classOfBits(a)) * valueClassCount
                 + static_cast<std::size_t>(classOfBits(b))];
    }
}

} // namespace

void countClasses(const std::byte* reference, DType referenceType, const std::byte* target,
                  DType targetType, std::size_t width, std::uint64_t* matrix)
{
    if (referenceType == targetType && hasKernel(referenceType)) {
        if (sizeOf(referenceType) == sizeof(std::uint16_t))
            countClassesOf<std::uint16_t>(reference, target, referenceType, width, matrix);
        else
            countClassesOf<std::uint32_t>(reference, target, referenceType, width, matrix);
        return;
    }
    for (std::size_t i = 0; i < width; ++i) {
        const auto from =
            static_cast<std::size_t>(classOf(bitsAt(reference, referenceType, i), referenceType));
        const auto to =
            static_cast<std::size_t>(classOf(bitsAt(target, targetType, i), targetType));
        ++matrix[from * valueClassCount + to];
    }
}

} // namespace moire::numeric
