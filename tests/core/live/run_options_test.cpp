// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/run_options.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace moire;
using namespace moire::live;

/// Further options of a run, written as one text.
class RunOptionsTest : public QObject
{
    Q_OBJECT

private:
    using Words = std::vector<std::string>;
    static wire::RunRequest asked(const std::string& words)
    {
        wire::RunRequest request;
        if (const auto added = addOptions(words, request); !added)
            qFatal("%s", added.error().text().c_str());
        return request;
    }
    static std::string refused(const std::string& words)
    {
        wire::RunRequest request;
        const auto added = addOptions(words, request);
        return added ? std::string() : added.error().text();
    }

private Q_SLOTS:
    void partsWordsAsAShellDoes()
    {
        QCOMPARE(*wordsIn(""), Words());
        QCOMPARE(*wordsIn("  --tp\t2 \n"), (Words{"--tp", "2"}));
        QCOMPARE(*wordsIn("--text 'a b' \"c d\" e\\ f ''"),
                 (Words{"--text", "a b", "c d", "e f", ""}));
        QCOMPARE(*wordsIn("\"say \\\"no\\\"\" 'a\\b'"), (Words{"say \"no\"", "a\\b"}));
        QVERIFY(!wordsIn("--text 'open"));
    }

    void takesValuesAndFlags()
    {
        const auto request = asked("--tp 2 --ignore-eos --policy=bf16 --text 'a b'");
        QCOMPARE(std::get<std::string>(request.options.at("tp")), std::string("2"));
        QCOMPARE(std::get<bool>(request.options.at("ignore-eos")), true);
        QCOMPARE(std::get<std::string>(request.options.at("policy")), std::string("bf16"));
        QCOMPARE(std::get<std::string>(request.options.at("text")), std::string("a b"));
        QVERIFY(checkPrompt(request));
        QVERIFY(!checkPrompt(asked("--tp 2")));
    }

    void tapsAreRepeatedAndTakeThePlaceOfOthers()
    {
        wire::RunRequest request;
        request.options["taps"] = Words{"*"};
        QVERIFY(addOptions("--taps '*.mlp.*' --taps=lm_head", request));
        QCOMPARE(std::get<Words>(request.options.at("taps")), (Words{"*.mlp.*", "lm_head"}));
    }

    void filesTravel()
    {
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("mixed.toml")).toStdString();
        std::ofstream(path) << "a policy";
        const auto request = asked("--policy-file " + path + " --taps @" + path);
        QCOMPARE(request.files.size(), std::size_t{2});
        QCOMPARE(request.files[0].name, std::string("mixed.toml"));
        QCOMPARE(std::get<wire::FilePlace>(request.options.at("taps")).place, 1U);
        const auto bytes = request.files[0].content.bytes;
        QCOMPARE(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                 std::string("a policy"));
        QVERIFY(!refused("--ids " + path + ".not-there").empty());
    }

    void refusesWhatIsNone()
    {
        QVERIFY(refused("bf16").find("'bf16' is no option") != std::string::npos);
        QVERIFY(refused("--").find("is no option") != std::string::npos);
        QVERIFY(refused("--task mmlu:x.csv").find("does not go with") != std::string::npos);
        QVERIFY(refused("--replay-from a.moire").find("does not go with") != std::string::npos);
    }
};

QTEST_MAIN(RunOptionsTest)
#include "run_options_test.moc"
