// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/capture/engine/fixture_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace moire::capture::fixture {

namespace {

[[noreturn]] void giveUp(const std::string& text)
{
    std::fprintf(stderr, "%s\n", text.c_str());
    std::exit(1);
}

template <class T>
T valueOf(Result<T> result)
{
    if (!result)
        giveUp(result.error().text());
    return *std::move(result);
}

std::string bytesOf(const std::filesystem::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        giveUp("cannot read " + file.string());
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Rows of one sample by position.
std::map<std::uint32_t, trace::RowIndex> rowsOfSample(const trace::Run& run, std::size_t sample)
{
    std::map<std::uint32_t, trace::RowIndex> rows;
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r)
        if (indexOf(run.row(r).sample) == sample)
            rows[run.row(r).position] = r;
    return rows;
}

} // namespace

std::filesystem::path folder(const std::string& model)
{
    const char* root = std::getenv("MOIRE_SOURCE");
    return std::filesystem::path(root ? root : ".") / "tests/data/models" / model;
}

Checkpoint open(const std::string& model)
{
    return valueOf(openCheckpoint(folder(model)));
}

std::vector<std::int32_t> promptIds(const std::string& model)
{
    std::string text = bytesOf(folder(model) / "expected/ids.json");
    for (char& c : text)
        if (c == '[' || c == ']' || c == ',')
            c = ' ';
    std::istringstream stream(text);
    return {std::istream_iterator<std::int32_t>(stream), {}};
}

Prompt promptOf(std::vector<std::int32_t> ids, const std::string& id)
{
    Prompt prompt;
    prompt.sample.id = id;
    prompt.promptLength = static_cast<std::uint32_t>(ids.size());
    prompt.ids = std::move(ids);
    return prompt;
}

std::vector<Prompt> prompts(const std::string& model, std::size_t count)
{
    const auto ids = promptIds(model);
    std::vector<Prompt> result;
    for (std::size_t i = 0; i < count; ++i)
        result.push_back(
            promptOf({ids.begin() + static_cast<std::ptrdiff_t>(i), ids.end()}, std::to_string(i)));
    return result;
}

trace::RunPointer run(const Checkpoint& checkpoint, const RunOptions& options,
                      const std::vector<Prompt>& prompts)
{
    const RunPlan plan = valueOf(planRun(checkpoint, options, prompts));
    const auto model = valueOf(loadModel(checkpoint, options));
    trace::RunBuilder builder(plan.header, "fixture");
    base::Progress progress;
    const auto ran = runModel(*model, checkpoint, options, plan, prompts, builder, {}, progress);
    if (!ran)
        giveUp(ran.error().text());
    return builder.snapshot();
}

std::vector<std::string> expectedTaps(const std::string& model, const std::string& policy)
{
    std::vector<std::string> taps;
    for (const auto& file :
         std::filesystem::directory_iterator(folder(model) / "expected" / policy)) {
        const std::string name = file.path().stem().string();
        if (name.ends_with(".out") && name != "lm_head.out")
            taps.push_back(name);
    }
    std::sort(taps.begin(), taps.end());
    return taps;
}

Array expected(const std::string& model, const std::string& policy, const std::string& name)
{
    const std::string bytes = bytesOf(folder(model) / "expected" / policy / (name + ".npy"));
    std::uint16_t headerSize = 0;
    std::memcpy(&headerSize, bytes.data() + 8, sizeof headerSize); // magic and version come first
    const std::string header = bytes.substr(10, headerSize);
    Array array;
    array.width = 1;
    if (std::sscanf(header.c_str() + header.find("'shape': (") + 10, "%zu, %zu", &array.rows,
                    &array.width)
        < 1)
        giveUp("no shape in " + name);
    const char* data = bytes.data() + 10 + headerSize;
    const bool integers = header.find("<i4") != std::string::npos;
    for (std::size_t i = 0; i < array.rows * array.width; ++i) {
        float real = 0;
        std::int32_t integer = 0;
        std::memcpy(&real, data + 4 * i, 4);
        std::memcpy(&integer, data + 4 * i, 4);
        array.values.push_back(integers ? static_cast<double>(integer) : static_cast<double>(real));
    }
    return array;
}

Array recorded(const trace::Run& run, const std::string& tap, std::size_t sample)
{
    const auto place = run.findTap(tap);
    if (!place)
        giveUp("no tap " + tap);
    Array array;
    array.width = run.header().taps[indexOf(*place)].width;
    std::vector<double> row(array.width);
    for (const auto& [position, r] : rowsOfSample(run, sample)) {
        trace::widenRow(valueOf(run.values(*place, r, r + 1)), r, row);
        array.values.insert(array.values.end(), row.begin(), row.end());
        ++array.rows;
    }
    return array;
}

double relativeL2(const Array& reference, const Array& target)
{
    if (reference.values.size() != target.values.size())
        return INFINITY;
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < reference.values.size(); ++i) {
        difference += std::pow(target.values[i] - reference.values[i], 2);
        norm += std::pow(reference.values[i], 2);
    }
    return std::sqrt(difference / norm);
}

double shareEqual(const Array& reference, const Array& target)
{
    std::size_t equal = 0;
    for (std::size_t i = 0; i < reference.values.size() && i < target.values.size(); ++i)
        equal += reference.values[i] == target.values[i];
    return static_cast<double>(equal) / static_cast<double>(reference.values.size());
}

std::string firstDifferentBits(const trace::Run& a, std::size_t sampleA, const trace::Run& b,
                               std::size_t sampleB)
{
    const auto rowsA = rowsOfSample(a, sampleA);
    const auto rowsB = rowsOfSample(b, sampleB);
    if (rowsA.size() != rowsB.size())
        return "another number of rows";
    for (const auto& [position, r] : rowsA) {
        const auto other = rowsB.find(position);
        if (other == rowsB.end())
            return "no row of position " + std::to_string(position);
        for (std::size_t t = 0; t < a.header().taps.size(); ++t)
            if (a.digests(r)[t] != b.digests(other->second)[t])
                return a.header().taps[t].name + " at position " + std::to_string(position);
    }
    return {};
}

} // namespace moire::capture::fixture
