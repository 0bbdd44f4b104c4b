// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/trace/run.h"

#include <cassert>

namespace moire::trace {

std::optional<TapIndex> Run::findTap(std::string_view name) const
{
    const auto& taps = header().taps;
    for (std::size_t i = 0; i < taps.size(); ++i)
        if (taps[i].name == name)
            return static_cast<TapIndex>(i);
    return std::nullopt;
}

std::optional<SampleIndex> Run::findSample(std::string_view id) const
{
    const auto all = samples();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].id == id)
            return static_cast<SampleIndex>(i);
    return std::nullopt;
}

void widenRow(const ValueView& view, RowIndex r, std::span<double> out)
{
    assert(out.size() == view.width);
    const std::byte* data = view.row(r);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = numeric::toDouble(numeric::bitsAt(data, view.dtype, i), view.dtype);
}

} // namespace moire::trace
