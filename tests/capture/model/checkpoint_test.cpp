// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/checkpoint.h"
#include "tests/capture/model/small_checkpoint.h"

#include <QTemporaryDir>
#include <QtTest>

#include <unistd.h>

using namespace moire;
using namespace moire::capture;
namespace fs = std::filesystem;

class CheckpointTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void opensFolders();
    void namesEveryMissingTensor_data();
    void namesEveryMissingTensor();
    void namesEveryWrongShape_data();
    void namesEveryWrongShape();
    void namesAWrongType();
    void ignoresTensorsThatNoDecoderReads();
    void refusesTensorsLeftOver_data();
    void refusesTensorsLeftOver();
    void tiedHeadsNeedNoTensor();
    void dtypeMayComeFromTheWeights();
    void refusesHugeClaims();
    void refusesOtherThings();
    void saysThatAFileCannotBeRead();

private:
    fs::path path() const { return m_folder->path().toStdString(); }
    QString openError(const std::string& below = {}) const
    {
        const auto opened = openCheckpoint(path() / below);
        return opened ? QString() : QString::fromStdString(opened.error().text());
    }
    static void eachTensor()
    {
        QTest::addColumn<bool>("olmoe");
        QTest::addColumn<std::string>("name");
        for (const bool olmoe : {false, true}) {
            const auto shapes = olmoe ? testing::olmoeShapes() : testing::llamaShapes();
            for (const auto& [name, shape] : shapes)
                QTest::addRow("%s %s", olmoe ? "olmoe" : "llama", name.c_str()) << olmoe << name;
        }
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void CheckpointTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
}

void CheckpointTest::opensFolders()
{
    testing::writeFolder(path(), testing::olmoeConfig(), testing::olmoeShapes());
    const auto opened = openCheckpoint(path() / "");
    QVERIFY2(opened, opened ? "" : opened.error().text().c_str());
    QCOMPARE(opened->plan.name, path().filename().string());
    QCOMPARE(opened->weights->entries().size(), testing::olmoeShapes().size());
    QVERIFY(!opened->tokenizer);
    QVERIFY(!opened->tokenizerError.text().empty());
}

void CheckpointTest::namesEveryMissingTensor_data()
{
    eachTensor();
}

void CheckpointTest::namesEveryMissingTensor()
{
    QFETCH(bool, olmoe);
    QFETCH(std::string, name);
    auto shapes = olmoe ? testing::olmoeShapes() : testing::llamaShapes();
    shapes.erase(name);
    testing::writeFolder(path(), olmoe ? testing::olmoeConfig() : testing::llamaConfig(), shapes);
    QVERIFY2(openError().contains("no tensor " + QString::fromStdString(name)),
             qPrintable(openError()));
}

void CheckpointTest::namesEveryWrongShape_data()
{
    eachTensor();
}

void CheckpointTest::namesEveryWrongShape()
{
    QFETCH(bool, olmoe);
    QFETCH(std::string, name);
    auto shapes = olmoe ? testing::olmoeShapes() : testing::llamaShapes();
    const auto sound = shapes[name];
    for (const auto& wrong : {std::vector<std::uint64_t>{}, std::vector<std::uint64_t>{7},
                              std::vector<std::uint64_t>{sound.back(), sound.front(), 1},
                              std::vector<std::uint64_t>{sound.front() + 1, sound.back()},
                              std::vector<std::uint64_t>{0}}) {
        shapes[name] = wrong;
        testing::writeFolder(path(), olmoe ? testing::olmoeConfig() : testing::llamaConfig(),
                             shapes);
        const QString message = openError();
        QVERIFY2(message.contains("tensor " + QString::fromStdString(name) + " has the shape ["),
                 qPrintable(message));
    }
}

void CheckpointTest::namesAWrongType()
{
    testing::writeFolder(path(), testing::llamaConfig(), testing::llamaShapes());
    std::string bytes = testing::readFile(path() / "model.safetensors");
    const std::size_t place = bytes.find("\"F32\"", bytes.find("lm_head.weight"));
    QVERIFY(place != std::string::npos);
    bytes.replace(place, 5, "\"I32\"");
    testing::writeFile(path() / "model.safetensors", bytes);
    QVERIFY2(openError().contains("holds int32 values"), qPrintable(openError()));
}

/// Tables that are computed anew, parts beside the decoder, and the weight of a tied head.
void CheckpointTest::ignoresTensorsThatNoDecoderReads()
{
    auto config = testing::llamaConfig();
    config["tie_word_embeddings"] = true;
    auto shapes = testing::llamaShapes();
    const std::size_t read = shapes.size();
    shapes["model.layers.0.self_attn.rotary_emb.inv_freq"] = {2};
    shapes["model.layers.0.self_attn.masked_bias"] = {1};
    shapes["vision_tower.layers.0.weight"] = {1};
    testing::writeFolder(path(), config, shapes);
    const auto opened = openCheckpoint(path());
    QVERIFY2(opened, opened ? "" : opened.error().text().c_str());
    QCOMPARE(opened->weights->entries().size(), read + 1); // without the two tables
}

void CheckpointTest::refusesTensorsLeftOver_data()
{
    QTest::addColumn<std::string>("name");
    QTest::addColumn<QString>("says");
    for (const char* name :
         {"model.layers.1.mlp.up_proj.weight", "model.layers.0.self_attn.q_proj.bias",
          "model.layers.0.self_attn.q_norm.weight", "model.norm.bias", "lm_head.bias",
          "model.layers.0.mlp.experts.3.gate_proj.weight", "model.layers.0.unheard.weight"})
        QTest::newRow(name) << std::string(name) << QString(name);
}

void CheckpointTest::refusesTensorsLeftOver()
{
    QFETCH(std::string, name);
    QFETCH(QString, says);
    auto shapes = testing::llamaShapes();
    shapes[name] = {8};
    testing::writeFolder(path(), testing::llamaConfig(), shapes);
    QVERIFY2(openError().contains("does not use: " + says), qPrintable(openError()));
    shapes["model.layers.9.mlp.up_proj.weight"] = {1};
    shapes["model.layers.9.mlp.down_proj.weight"] = {1};
    testing::writeFolder(path(), testing::llamaConfig(), shapes);
    QVERIFY2(openError().contains(" and 2 others"), qPrintable(openError()));
}

void CheckpointTest::tiedHeadsNeedNoTensor()
{
    auto config = testing::llamaConfig();
    auto shapes = testing::llamaShapes();
    config["tie_word_embeddings"] = true;
    shapes.erase("lm_head.weight");
    testing::writeFolder(path(), config, shapes);
    QCOMPARE(openError(), QString());
}

void CheckpointTest::dtypeMayComeFromTheWeights()
{
    auto config = testing::llamaConfig();
    config.erase("torch_dtype");
    testing::writeFolder(path(), config, testing::llamaShapes());
    const auto opened = openCheckpoint(path());
    QVERIFY(opened);
    QCOMPARE(opened->plan.dtype, numeric::DType::FP32);
}

void CheckpointTest::refusesHugeClaims()
{
    auto config = testing::olmoeConfig();
    config["num_hidden_layers"] = 4096;
    config["num_experts"] = 4096;
    testing::writeFolder(path(), config, testing::olmoeShapes());
    QVERIFY(openError().contains("model.layers.0.mlp.gate.weight has the shape [3, 8]"));
}

void CheckpointTest::refusesOtherThings()
{
    QVERIFY(openError().contains("has no config.json"));
    const auto nothing = openCheckpoint(path() / "nowhere");
    QVERIFY(!nothing);
    QCOMPARE(nothing.error().code, Errc::NotFound);
    testing::writeFile(path() / "config.json", testing::llamaConfig().dump());
    QVERIFY(openError().contains("neither model.safetensors"));
    const auto file = openCheckpoint(path() / "config.json");
    QVERIFY(!file);
    QVERIFY(file.error().text().find("neither a model folder nor") != std::string::npos);
    const auto device = openCheckpoint("/dev/null");
    QVERIFY(!device);
}

void CheckpointTest::saysThatAFileCannotBeRead()
{
    constexpr ::uid_t nobody = 65534;
    testing::writeFolder(path(), testing::llamaConfig(), testing::llamaShapes());
    const bool isRoot = ::geteuid() == 0;
    const auto asNobody = [&](const std::string& below) {
        if (isRoot && ::seteuid(nobody) != 0)
            return QString("skip");
        const QString message = openError(below);
        if (isRoot && ::seteuid(0) != 0)
            return QString("skip");
        return message;
    };
    constexpr auto openFolder = static_cast<fs::perms>(0755);
    constexpr auto closedFolder = static_cast<fs::perms>(0);
    fs::permissions(path(), openFolder);
    fs::permissions(path() / "config.json", static_cast<fs::perms>(0644));
    for (const char* name : {"model.safetensors", "config.json"}) {
        fs::permissions(path() / name, fs::perms::none);
        const QString message = asNobody({});
        if (message == "skip")
            QSKIP("cannot become another user");
        QVERIFY2(message.contains(name) && message.contains("Permission denied"),
                 qPrintable(message));
    }
    fs::create_directory(path() / "inner");
    fs::permissions(path(), closedFolder);
    const QString folder = asNobody("inner");
    fs::permissions(path(), openFolder);
    QVERIFY2(folder.contains("Permission denied"), qPrintable(folder));
}

QTEST_APPLESS_MAIN(CheckpointTest)
#include "checkpoint_test.moc"
