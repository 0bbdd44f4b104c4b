// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/checkpoint.h"
#include "capture/model/config.h"
#include "capture/model/safetensors_header.h"
#include "tests/capture/model/small_checkpoint.h"

#include <QtTest>

#include <random>

using namespace moire;
using namespace moire::capture;

/// Thousands of damaged files: each is either opened, and then everything in it can be loaded, or
/// refused with a sentence. No crash, no hang, no memory beyond reason. The seed is fixed; set
/// MOIRE_FULL=1 for the long run.
class MutationTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void safetensors();
    void gguf();
    void config();
};

namespace {

using Random = std::mt19937_64;

std::size_t mutationCount()
{
    constexpr std::size_t usual = 4000;
    constexpr std::size_t full = 100'000;
    return qEnvironmentVariableIntValue("MOIRE_FULL") == 1 ? full : usual;
}

std::size_t below(Random& random, std::size_t bound)
{
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

/// Numbers at which sizes and counts go wrong.
std::string nastyNumber(Random& random)
{
    constexpr std::array<std::uint64_t, 10> numbers{
        0, 1, 0x7F, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1ULL << 40U, 1ULL << 62U, ~0ULL >> 1U, ~0ULL};
    constexpr std::array<std::size_t, 3> widths{1, 4, 8};
    return testing::littleEndian(numbers[below(random, numbers.size())],
                                 widths[below(random, widths.size())]);
}

/// One to four changes: a bit, a byte, a number, a part cut out, doubled or moved.
std::string mutated(std::string bytes, Random& random)
{
    for (std::size_t changes = 1 + below(random, 4); changes > 0 && !bytes.empty(); --changes) {
        const std::size_t place = below(random, bytes.size());
        const std::size_t length =
            1 + below(random, std::min<std::size_t>(64, bytes.size() - place));
        switch (below(random, 7)) {
        case 0:
            bytes[place] = static_cast<char>(bytes[place] ^ (1 << below(random, 8)));
            break;
        case 1:
            bytes[place] = static_cast<char>(below(random, 256));
            break;
        case 2: {
            const std::string number = nastyNumber(random);
            bytes.replace(place, std::min(number.size(), bytes.size() - place), number);
            break;
        }
        case 3:
            bytes.erase(place, length);
            break;
        case 4:
            bytes.insert(place, bytes.substr(place, length));
            break;
        case 5:
            bytes.replace(place, length, bytes.substr(below(random, bytes.size()), length));
            break;
        default:
            bytes.resize(place);
            break;
        }
    }
    return bytes;
}

/// The result of a damaged file: sound, or with a sentence.
void holdToPromise(const Result<Checkpoint>& opened)
{
    if (!opened) {
        QVERIFY(!opened.error().sentence.empty());
        QVERIFY(opened.error().code != Errc::Internal);
        return;
    }
    for (const Weights::Entry& entry : opened->weights->entries()) {
        const auto weight = opened->weights->load(entry.name);
        QVERIFY(weight);
        std::uint64_t values = 1;
        for (const std::int64_t extent : weight->shape)
            values *= static_cast<std::uint64_t>(extent);
        QCOMPARE(weight->bytes.size(), values * numeric::sizeOf(weight->dtype));
    }
}

} // namespace

void MutationTest::safetensors()
{
    Random random(1);
    const std::string sound = testing::safetensorsOf(testing::olmoeShapes());
    std::size_t opened = 0;
    for (std::size_t i = 0; i < mutationCount(); ++i) {
        const std::string bytes = mutated(sound, random);
        const auto tensors = readSafetensorsHeader(std::as_bytes(std::span(bytes)), "x");
        if (!tensors) {
            QVERIFY(!tensors.error().sentence.empty());
            continue;
        }
        ++opened;
        for (const StoredTensor& tensor : *tensors)
            QVERIFY(tensor.begin <= tensor.end && tensor.end <= bytes.size());
    }
    QVERIFY(opened > 0); // changes of the data are none of the header's business
}

void MutationTest::gguf()
{
    Random random(2);
    testing::GgufBytes file = testing::llamaGguf();
    file.value("tokenizer.ggml.model", std::string("gpt2"));
    file.value("tokenizer.ggml.pre", std::string("smollm"));
    file.texts("tokenizer.ggml.tokens", {"<s>", "</s>", "a", "b", "ab", "c"});
    file.texts("tokenizer.ggml.merges", {"a b"});
    file.raw("tokenizer.ggml.token_type", 9,
             testing::littleEndian(5, 4) + testing::littleEndian(6, 8) + testing::littleEndian(3, 4)
                 + testing::littleEndian(3, 4) + testing::littleEndian(1, 4)
                 + testing::littleEndian(1, 4) + testing::littleEndian(1, 4)
                 + testing::littleEndian(1, 4));
    file.value("tokenizer.ggml.bos_token_id", 0U);
    const std::string sound = file.bytes();
    testing::MemoryFile memory;
    memory.write(sound);
    const auto whole = openCheckpoint(memory.path());
    QVERIFY(whole);
    QVERIFY2(whole->tokenizer, whole->tokenizerError.text().c_str());
    for (std::size_t i = 0; i < mutationCount(); ++i) {
        memory.write(mutated(sound, random));
        holdToPromise(openCheckpoint(memory.path()));
    }
}

void MutationTest::config()
{
    Random random(3);
    const std::string sound = testing::olmoeConfig().dump();
    for (std::size_t i = 0; i < mutationCount(); ++i) {
        const auto plan = planFromConfig(mutated(sound, random), "x");
        if (!plan)
            QVERIFY(!plan.error().sentence.empty());
        else
            QVERIFY(plan->plan.heads > 0 && plan->plan.headDim > 0);
    }
}

QTEST_APPLESS_MAIN(MutationTest)
#include "mutation_test.moc"
