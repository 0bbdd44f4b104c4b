// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/capture/engine/fixture_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <torch/version.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

using namespace moire;
using namespace moire::capture;

/// Every fixture model against what transformers 5.24 made of it (tests/data/models/README.md): the
/// prompt in one pass and 8 greedy tokens with a cache.
class ForwardTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void matchesTransformers_data();
    void matchesTransformers();
    void fusedMatchesTransformers_data();
    void fusedMatchesTransformers();
    void fusedSeesNoPadding();
    void bothConfigStyles_data();
    void bothConfigStyles();
    void orderedMatchesTransformers_data();
    void orderedMatchesTransformers();
    void slotsAddUp();
    void expertsAreAddedInTheirOrder_data();
    void expertsAreAddedInTheirOrder();

private:
    void eachModel();
    enum class Roundings
    {
        Same,
        Own ///< of the fused attention
    };
    void compare(const std::string& model, const std::string& policy, const trace::Run& run,
                 Roundings roundings = Roundings::Same);
};

void ForwardTest::eachModel()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("policy");
    for (const std::string& model : fixture::models)
        for (const char* policy : {"fp32", "bf16"})
            QTest::addRow("%s %s", model.c_str(), policy)
                << QString::fromStdString(model) << QString(policy);
}

namespace {

RunOptions eightTokens(const std::string& policy, const std::string& arithmetic)
{
    RunOptions options;
    options.policy = policy;
    options.arithmetic = arithmetic;
    options.maxNew = 8;
    options.ignoreEnd = true;
    options.threads = 1;
    return options;
}

fixture::Array lastRows(const fixture::Array& array, std::size_t rows)
{
    fixture::Array result{rows, array.width, {}};
    result.values.assign(array.values.end() - static_cast<std::ptrdiff_t>(rows * array.width),
                         array.values.end());
    return result;
}

/// Sets of expert ids that differ from the expected ones.
std::size_t differentExperts(const trace::Run& run, std::size_t router,
                             const fixture::Array& wanted)
{
    std::size_t different = 0;
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r) {
        const auto ids = run.routing(router, r)->ids;
        const auto begin = wanted.values.begin() + static_cast<std::ptrdiff_t>(r * wanted.width);
        different += std::set<double>(ids.begin(), ids.end())
                     != std::set<double>(begin, begin + static_cast<std::ptrdiff_t>(wanted.width));
    }
    return different;
}

} // namespace

/// fp32: every tap within 1e-5; bf16: within 2e-2, and nearly all bits of the first layer equal,
/// which only the same roundings at the same places give (later ones inherit every tie that another
/// order of summation rounded the other way).
void ForwardTest::compare(const std::string& model, const std::string& policy,
                          const trace::Run& run, Roundings roundings)
{
    const double bound = policy == "fp32" ? 1e-5 : 2e-2;
    const auto logits = fixture::expected(model, policy, "lm_head.out");
    QCOMPARE(run.rowCount(), trace::RowIndex{logits.rows});
    const double logitsError = fixture::relativeL2(logits, fixture::recorded(run, "lm_head.out"));
    QVERIFY2(logitsError <= bound, qPrintable(QString::number(logitsError)));

    double firstLayer = 0;
    std::size_t firstTaps = 0;
    std::size_t taps = 0;
    for (const std::string& tap : fixture::expectedTaps(model, policy)) {
        const auto wanted = fixture::expected(model, policy, tap);
        const auto got = lastRows(fixture::recorded(run, tap), wanted.rows);
        const double error = fixture::relativeL2(wanted, got);
        QVERIFY2(error <= bound, qPrintable(QString("%1 %2").arg(tap.c_str()).arg(error)));
        ++taps;
        if (run.header().taps[trace::indexOf(*run.findTap(tap))].layer != 0)
            continue;
        firstLayer += fixture::shareEqual(wanted, got);
        ++firstTaps;
    }
    QVERIFY(taps >= 6 && firstTaps >= 3);
    if (policy == "bf16" && roundings == Roundings::Same)
        QVERIFY2(firstLayer / static_cast<double>(firstTaps) >= 0.9,
                 qPrintable(QString::number(firstLayer / static_cast<double>(firstTaps))));
    for (std::size_t router = 0; router < run.header().routers.size(); ++router) {
        const auto ids =
            fixture::expected(model, policy, run.header().routers[router].module + ".ids");
        QCOMPARE(differentExperts(run, router, ids), std::size_t{0});
    }
    const auto generated = fixture::expected(model, policy, "gen.ids");
    std::vector<double> tokens;
    for (const trace::Token& token : run.tokens(trace::SampleIndex{0}))
        if (token.response)
            tokens.push_back(token.id);
    QCOMPARE(tokens, generated.values);
}

void ForwardTest::matchesTransformers_data()
{
    eachModel();
}

void ForwardTest::matchesTransformers()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const auto run = fixture::run(fixture::open(model.toStdString()),
                                  eightTokens(policy.toStdString(), "native"),
                                  {fixture::promptOf(fixture::promptIds(model.toStdString()))});
    compare(model.toStdString(), policy.toStdString(), *run);
}

void ForwardTest::fusedMatchesTransformers_data()
{
    eachModel();
}

/// LibTorch 2's scaled_dot_product_attention instead of the steps that the expected values took.
void ForwardTest::fusedMatchesTransformers()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    RunOptions options = eightTokens(policy.toStdString(), "native");
    options.attention = "sdpa";
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const Prompt prompt = fixture::promptOf(fixture::promptIds(model.toStdString()));
    if (TORCH_VERSION_MAJOR < 2) {
        const auto plan = planRun(checkpoint, options, std::span(&prompt, 1));
        QVERIFY(!plan);
        QCOMPARE(plan.error().code, Errc::Unsupported);
        QVERIFY(plan.error().text().starts_with("attention sdpa needs LibTorch 2"));
        return;
    }
    const auto run = fixture::run(checkpoint, options, {prompt});
    QCOMPARE(run->header().environment.text(trace::env::attention), std::string("sdpa"));
    compare(model.toStdString(), policy.toStdString(), *run, Roundings::Own);
}

/// With a window, padding on either side and chunks: the masks that the fused kernel is given.
void ForwardTest::fusedSeesNoPadding()
{
    if (TORCH_VERSION_MAJOR < 2)
        QSKIP("LibTorch 1 has no fused attention");
    for (const char* model : {"mistral", "qwen2"}) {
        const Checkpoint checkpoint = fixture::open(model);
        const auto prompts = fixture::prompts(model, 3);
        RunOptions options = eightTokens("fp32", "native");
        options.batch = 3;
        const auto eager = fixture::run(checkpoint, options, prompts);
        options.attention = "sdpa";
        for (const Padding padding : {Padding::None, Padding::Left, Padding::Right}) {
            options.padding = padding;
            options.prefillChunk = padding == Padding::None ? 5 : 0;
            const auto fused = fixture::run(checkpoint, options, prompts);
            for (std::size_t sample = 0; sample < prompts.size(); ++sample) {
                const double error =
                    fixture::relativeL2(fixture::recorded(*eager, "lm_head.out", sample),
                                        fixture::recorded(*fused, "lm_head.out", sample));
                QVERIFY2(error <= 1e-5, qPrintable(QString("%1 %2").arg(model).arg(error)));
            }
        }
    }
}

void ForwardTest::orderedMatchesTransformers_data()
{
    eachModel();
}

void ForwardTest::orderedMatchesTransformers()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const auto run = fixture::run(fixture::open(model.toStdString()),
                                  eightTokens(policy.toStdString(), "ordered"),
                                  {fixture::promptOf(fixture::promptIds(model.toStdString()))});
    compare(model.toStdString(), policy.toStdString(), *run);
}

void ForwardTest::bothConfigStyles_data()
{
    QTest::addColumn<QString>("model");
    for (const std::string& model : fixture::models)
        QTest::newRow(model.c_str()) << QString::fromStdString(model);
}

void ForwardTest::bothConfigStyles()
{
    QFETCH(QString, model);
    const auto source = fixture::folder(model.toStdString());
    QTemporaryDir other;
    const std::filesystem::path target(other.path().toStdString());
    std::filesystem::copy_file(source / "config.v5.json", target / "config.json");
    std::filesystem::create_symlink(source / "model.safetensors", target / "model.safetensors");
    const auto checkpoint = openCheckpoint(target);
    QVERIFY2(checkpoint, checkpoint ? "" : checkpoint.error().text().c_str());

    const Prompt prompt = fixture::promptOf(fixture::promptIds(model.toStdString()));
    const RunOptions options = eightTokens("bf16", "ordered");
    const auto hub = fixture::run(fixture::open(model.toStdString()), options, {prompt});
    const auto v5 = fixture::run(*checkpoint, options, {prompt});
    QCOMPARE(fixture::firstDifferentBits(*hub, 0, *v5, 0), std::string());
}

/// mlp.experts.out is the weighted sum of the slots: computed here again in double.
void ForwardTest::slotsAddUp()
{
    const auto run = fixture::run(fixture::open("olmoe_odd"), eightTokens("fp32", "native"),
                                  {fixture::promptOf(fixture::promptIds("olmoe_odd"))});
    const auto slots = fixture::recorded(*run, "model.layers.1.mlp.experts.down.slots");
    const auto sums = fixture::recorded(*run, "model.layers.1.mlp.experts.out");
    const std::size_t chosen = run->header().routers[1].chosen;
    fixture::Array wanted{sums.rows, sums.width, std::vector<double>(sums.values.size())};
    for (trace::RowIndex r = 0; r < run->rowCount(); ++r) {
        const auto routing = run->routing(1, r);
        for (std::size_t slot = 0; slot < chosen; ++slot) {
            const double weight =
                numeric::toDouble(numeric::bitsAt(routing->weights, numeric::DType::FP32, slot),
                                  numeric::DType::FP32);
            for (std::size_t i = 0; i < sums.width; ++i)
                wanted.values[r * sums.width + i] +=
                    weight * slots.values[(r * chosen + slot) * sums.width + i];
        }
    }
    QVERIFY(fixture::relativeL2(wanted, sums) <= 1e-6);
}

void ForwardTest::expertsAreAddedInTheirOrder_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("arithmetic");
    QTest::addColumn<bool>("inSlots");
    for (const char* model : {"olmoe_odd", "mixtral"})
        for (const char* arithmetic : {"native", "ordered"})
            for (const bool inSlots : {false, true})
                QTest::addRow("%s %s %s", model, arithmetic, inSlots ? "slots" : "ascending")
                    << model << arithmetic << inSlots;
}

namespace {

/// To nearest, ties to even: the upper half of the fp32 bits.
float asBf16(float value)
{
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF0000U;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

/// One element of a mixture: `terms` by slot, weight and value each.
float mixed(std::vector<std::tuple<std::int32_t, float, float>> terms, bool inSlots,
            bool fp32Weights)
{
    if (!inSlots)
        std::sort(terms.begin(), terms.end());
    float sum = 0;
    for (const auto& [id, weight, value] : terms) {
        const float product = weight * value;
        sum += inSlots && fp32Weights ? product : asBf16(product);
        if (!inSlots)
            sum = asBf16(sum);
    }
    return asBf16(sum);
}

} // namespace

/// bf16: ascending id with a rounding after each, or slot order with one rounding, where fp32
/// weights (Mixtral) make fp32 products; computed here again from the recorded slots and weights.
void ForwardTest::expertsAreAddedInTheirOrder()
{
    QFETCH(QString, model);
    QFETCH(QString, arithmetic);
    QFETCH(bool, inSlots);
    RunOptions options = eightTokens("bf16", arithmetic.toStdString());
    options.expertOrder = inSlots ? ExpertOrder::SlotOrder : ExpertOrder::AscendingId;
    const auto run = fixture::run(fixture::open(model.toStdString()), options,
                                  {fixture::promptOf(fixture::promptIds(model.toStdString()))});
    const auto slots = fixture::recorded(*run, "model.layers.1.mlp.experts.down.slots");
    const auto sums = fixture::recorded(*run, "model.layers.1.mlp.experts.out");
    const trace::RouterLayer& router = run->header().routers[1];
    fixture::Array wanted{sums.rows, sums.width, {}};
    for (trace::RowIndex r = 0; r < run->rowCount(); ++r) {
        const auto routing = run->routing(1, r);
        for (std::size_t i = 0; i < sums.width; ++i) {
            std::vector<std::tuple<std::int32_t, float, float>> terms;
            for (std::size_t slot = 0; slot < router.chosen; ++slot)
                terms.emplace_back(
                    routing->ids[slot],
                    static_cast<float>(numeric::toDouble(
                        numeric::bitsAt(routing->weights, router.weightType, slot),
                        router.weightType)),
                    static_cast<float>(slots.values[(r * router.chosen + slot) * sums.width + i]));
            wanted.values.push_back(
                mixed(terms, inSlots, router.weightType == numeric::DType::FP32));
        }
    }
    // The library may add the slots in an order of its own, which rounds a rare tie otherwise.
    QVERIFY(fixture::shareEqual(wanted, sums) >= (inSlots && arithmetic == "native" ? 0.995 : 1.0));
}

QTEST_APPLESS_MAIN(ForwardTest)
#include "forward_test.moc"
