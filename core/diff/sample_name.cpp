// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/sample_name.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace moire::diff {

namespace {

using trace::SampleIndex;

/// Of the samples with that id the first of that repeat, else the one with so many before it.
std::optional<SampleIndex> find(const trace::Run& run, std::string_view id, std::uint32_t number)
{
    const auto samples = run.samples();
    std::optional<SampleIndex> counted;
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (samples[i].id != id)
            continue;
        if (samples[i].repeat == number)
            return static_cast<SampleIndex>(i);
        if (before++ == number)
            counted = static_cast<SampleIndex>(i);
    }
    return counted;
}

std::string named(const std::string& id, std::size_t number)
{
    return number == 0 ? id : id + '#' + std::to_string(number);
}

} // namespace

std::string sampleName(const trace::Run& run, trace::SampleIndex sample)
{
    const auto samples = run.samples();
    const trace::Sample& wanted = samples[indexOf(sample)];
    std::size_t before = 0;
    bool again = false; // the same id and repeat stands earlier
    for (std::size_t i = 0; i < indexOf(sample); ++i) {
        if (samples[i].id != wanted.id)
            continue;
        ++before;
        again = again || samples[i].repeat == wanted.repeat;
    }
    return named(wanted.id, again ? before : wanted.repeat);
}

std::vector<std::string> sampleNames(const trace::Run& run)
{
    std::map<std::string_view, std::vector<std::uint32_t>> repeats; // seen of each id
    std::vector<std::string> names;
    names.reserve(run.samples().size());
    for (const trace::Sample& sample : run.samples()) {
        auto& seen = repeats[sample.id];
        const bool again = std::find(seen.begin(), seen.end(), sample.repeat) != seen.end();
        names.push_back(named(sample.id, again ? seen.size() : sample.repeat));
        seen.push_back(sample.repeat);
    }
    return names;
}

std::optional<trace::SampleIndex> findSampleNamed(const trace::Run& run, std::string_view name)
{
    if (const auto whole = find(run, name, 0))
        return whole;
    const std::size_t mark = name.rfind('#');
    if (mark == std::string_view::npos)
        return std::nullopt;
    std::uint32_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, code] = std::from_chars(name.data() + mark + 1, end, number);
    if (code != std::errc() || stop != end || mark + 1 == name.size())
        return std::nullopt;
    return find(run, name.substr(0, mark), number);
}

} // namespace moire::diff
