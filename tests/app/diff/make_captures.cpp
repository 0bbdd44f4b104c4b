// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the captures that the tests of moire-diff compare, always the same ones:
// make_captures FOLDER. Each pair is NAME.ref.moire and NAME.target.moire.

#include "core/numeric/digest.h"
#include "core/store/writer.h"
#include "tests/app/diff/made_run.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

namespace {

using namespace moire;
using test::MadeModel;
using test::MadeSample;
using test::Touch;

constexpr std::uint64_t seed = 20261;

std::vector<std::int32_t> ids(std::size_t count, std::int32_t first)
{
    std::vector<std::int32_t> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back((first + static_cast<std::int32_t>(i) * 7) % 97);
    return out;
}

std::vector<MadeSample> promptsOnly()
{
    return {{"fact", "knowledge", ids(9, 3), {}, {}, {}},
            {"sum/one", "maths", ids(6, 11), {}, {}, {}}};
}

/// A deviate in −1 … 1 that depends on its place.
double jitter(std::size_t tap, std::uint64_t row, std::size_t element)
{
    const std::uint64_t word = numeric::mix64(((row * 131) + tap) * 100003 + element + 77);
    return static_cast<double>(word >> 11U) * 0x1p-52 - 1;
}

/// From row 2, tap 2 on every third element is off by up to `size`, relatively.
Touch perturbed(double size)
{
    return [size](double value, std::size_t tap, std::uint64_t row, std::size_t element) {
        if (row < 2 || tap < 2 || element % 3 != 0)
            return value;
        return value * (1 + size * jitter(tap, row, element));
    };
}

/// Differences that begin at row 1, tap 2 and grow with depth.
double growing(double value, std::size_t tap, std::uint64_t row, std::size_t element)
{
    if (row < 1 || tap < 2)
        return value;
    const double size = 1e-3 * std::pow(1.05, static_cast<double>(tap));
    return value * (1 + size * jitter(tap, row, element));
}

Touch wild(bool target)
{
    return [target](double value, std::size_t tap, std::uint64_t row, std::size_t element) {
        constexpr double subnormal = 1e-40;
        constexpr double huge = 3e38;
        switch ((element + 3 * row + 5 * tap) % 41) {
        case 0:
            return target ? 0.0 : -0.0;
        case 1:
            return subnormal * (target ? 3 : 2);
        case 2:
            return row % 4 == 1 && target ? std::numeric_limits<double>::quiet_NaN() : value;
        case 3:
            return row % 4 == 2 ? std::numeric_limits<double>::infinity() : value;
        case 4:
            return row % 4 == 2 && !target ? -std::numeric_limits<double>::infinity() : value;
        case 5:
            return row % 4 == 3 && tap < 5 ? huge : value;
        case 6:
            return row % 4 == 3 ? std::numeric_limits<double>::quiet_NaN() : value;
        default:
            return target ? value * (1 + 1e-5 * jitter(tap, row, element)) : value;
        }
    };
}

struct Folder
{
    std::filesystem::path path;
    bool failed = false;

    void write(const std::string& name, const MadeModel& model,
               const std::vector<MadeSample>& samples, const Touch& touch, bool finished = true)
    {
        auto writer = store::Writer::create(path / (name + ".moire"), test::headerOf(model));
        Result<void> done = writer ? test::makeRun(**writer, model, samples, seed, touch)
                                   : Result<void>(writer.error());
        if (done)
            done = finished ? (*writer)->finish({}) : (*writer)->flush();
        if (done)
            return;
        std::fprintf(stderr, "%s: %s\n", name.c_str(), done.error().text().c_str());
        failed = true;
    }

    void pair(const std::string& name, MadeModel model, const std::vector<MadeSample>& samples,
              const std::vector<MadeSample>& targetSamples, const Touch& reference,
              const Touch& target)
    {
        write(name + ".ref", model, samples, reference);
        model.arithmetic = "native";
        model.wallSeconds *= 1.25;
        model.peakBytes *= 2;
        write(name + ".target", model, targetSamples, target);
    }
};

MadeModel modelOf(numeric::DType dtype, trace::Level level = trace::Level::Full)
{
    MadeModel model;
    model.dtype = model.headType = dtype;
    model.level = level;
    return model;
}

void writeDense(Folder& folder)
{
    using numeric::DType;
    const auto samples = promptsOnly();
    folder.pair("bf16", modelOf(DType::BF16), samples, samples, nullptr, perturbed(8e-3));
    folder.pair("fp32", modelOf(DType::FP32), samples, samples, nullptr, perturbed(3e-6));
    folder.pair("fp16", modelOf(DType::FP16), samples, samples, nullptr, perturbed(3e-3));
    folder.pair("wild", modelOf(DType::FP32), samples, samples, wild(false), wild(true));
    folder.pair("wild16", modelOf(DType::BF16), samples, samples, wild(false), wild(true));
    MadeModel tall = modelOf(DType::BF16);
    tall.layers = 30;
    tall.width = 8;
    tall.vocabulary = 40;
    std::vector<MadeSample> many;
    for (const std::int32_t first : {3, 11, 20, 31})
        many.push_back({"sample " + std::to_string(first), "", ids(30, first), {}, {}, {}});
    folder.pair("tall", tall, many, many, nullptr, growing);
    const std::vector<MadeSample> single{{"0", "", {5}, {}, {}, {}}};
    folder.pair("single", modelOf(DType::FP32), single, single, nullptr,
                [](double value, std::size_t tap, std::uint64_t, std::size_t element) {
                    return tap >= 1 && element % 2 == 0 ? value * (1 + 1e-4) : value;
                });
    // Logits of few levels: most of the vocabulary ties.
    const auto tied = [](double shift) {
        return [shift](double value, std::size_t tap, std::uint64_t row, std::size_t element) {
            const double level = std::round(value / 2) * 2;
            return tap == 7 && row > 1 && element % 17 == 3 ? level + shift : level;
        };
    };
    folder.pair("tied", modelOf(DType::BF16), samples, samples, tied(0), tied(2));
    folder.pair("topk", modelOf(DType::BF16, trace::Level::TopK), samples, samples, nullptr,
                perturbed(8e-3));
    MadeModel narrow = modelOf(DType::FP32);
    narrow.vocabulary = 12;
    narrow.topK = 4;
    const std::vector<MadeSample> one{{"0", "", {5}, {}, {}, {}}};
    const auto apart = [](double value, std::size_t tap, std::uint64_t, std::size_t element) {
        return tap >= 2 ? value + 0.8 * jitter(tap, 3, element) : value;
    };
    folder.pair("wide", narrow, one, one, nullptr, apart);
    narrow.level = trace::Level::TopK;
    folder.pair("narrow", narrow, one, one, nullptr, apart);
    MadeModel integers = modelOf(DType::FP32);
    integers.integerTap = "counter.out";
    folder.pair("integers", integers, one, one, nullptr,
                [](double value, std::size_t tap, std::uint64_t, std::size_t element) {
                    return tap == 7 && element == 2 ? value + 1 : value;
                });
    folder.pair("digest", modelOf(DType::BF16, trace::Level::Digest), samples, samples, nullptr,
                perturbed(8e-3));
    folder.write("mixed.ref", modelOf(DType::BF16), samples, nullptr);
    folder.write("mixed.target", modelOf(DType::FP32), samples, nullptr);
}

void writeOthers(Folder& folder)
{
    using numeric::DType;
    MadeModel moe = modelOf(DType::BF16);
    moe.experts = 8;
    moe.layers = 3;
    const auto samples = promptsOnly();
    folder.pair("moe", moe, samples, samples, nullptr, perturbed(0.25));
    std::vector<MadeSample> free{{"same", "a", ids(4, 1), ids(6, 5), "A", "A"},
                                 {"parts", "a", ids(5, 2), ids(8, 9), "B", "B"},
                                 {"longer", "b", ids(3, 4), ids(5, 6), "C", "A"}};
    std::vector<MadeSample> parted = free;
    parted[1].prediction = "D";
    parted[2].prediction = "B";
    parted[1].response[3] = 55;
    parted[2].response.push_back(41);
    folder.pair("free", modelOf(DType::BF16), free, parted, nullptr, perturbed(8e-3));
    folder.write("stranger", modelOf(DType::BF16), {{"nobody", "", ids(3, 1), {}, {}, {}}},
                 nullptr);
    folder.write("info", modelOf(DType::BF16), samples, nullptr);
    MadeModel timed = modelOf(DType::BF16);
    timed.startTime = "2026-01-02T03:04:05Z";
    folder.pair("timed", timed, samples, samples, nullptr, perturbed(8e-3));
    folder.write("unfinished", modelOf(DType::BF16), {samples[0]}, nullptr, false);
    std::vector<MadeSample> hostile{{"</script>\x1b[31m\xe2\x80\xae", "", ids(3, 1), {}, {}, {}}};
    folder.pair("hostile", modelOf(DType::BF16), hostile, hostile, nullptr, perturbed(8e-3));
    MadeModel odd = modelOf(DType::BF16); // names that are no file's, ids that stand twice, a blank
    odd.extraTaps = {"..", std::string(300, 'n'), "gen.ids", "c\nd", "array-1", "\u200B"};
    odd.name.clear();
    odd.tokenText = std::string(5000, 'w') + "\u200B\uFEFF\U000E0041\xEF\xBF\xBE";
    const std::vector<MadeSample> twins{{"q", "", ids(3, 1), ids(2, 2), {}, {}},
                                        {"q", "", ids(3, 5), ids(2, 3), {}, {}},
                                        {"", "", ids(3, 9), {}, {}, {}}};
    folder.pair("odd", odd, twins, twins, nullptr, perturbed(8e-3));
    // Long enough to be stopped in the middle.
    MadeModel big = modelOf(DType::FP32);
    big.layers = 12;
    big.vocabulary = 6000;
    const std::vector<MadeSample> longer{{"long", "", ids(300, 1), {}, {}, {}}};
    folder.pair("big", big, longer, longer, nullptr, perturbed(1e-3));
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fputs("make_captures FOLDER\n", stderr);
        return 2;
    }
    Folder folder{argv[1], false};
    std::filesystem::create_directories(folder.path);
    writeDense(folder);
    writeOthers(folder);
    return folder.failed ? 1 : 0;
}
