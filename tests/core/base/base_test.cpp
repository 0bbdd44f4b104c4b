// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/checked.h"
#include "core/base/file.h"
#include "core/base/result.h"
#include "core/base/shortened.h"
#include "core/base/text.h"

#include <QtTest/QtTest>

#include <cerrno>
#include <fstream>
#include <limits>
#include <string>
#include <unistd.h>

using namespace moire;
using namespace moire::base;
using std::string_literals::operator""s;

class BaseTest : public QObject
{
    Q_OBJECT

private slots:
    void resultHoldsAValueOrAnError()
    {
        const Result<int> good = 5;
        QVERIFY(good);
        QCOMPARE(*good, 5);
        const Result<int> bad = Error{Errc::Invalid, "no such thing", "here", "Try there"};
        QVERIFY(!bad);
        QVERIFY(bad.error().code == Errc::Invalid);
        const Result<void> fine;
        QVERIFY(fine);
        const Result<void> wrong = Error{};
        QVERIFY(!wrong);
        Result<std::string> moved = "text"s;
        QCOMPARE(*std::move(moved), "text"s);
    }

    void errorReadsAsOneLine()
    {
        QCOMPARE((Error{Errc::Io, "it broke", "a/b", "Mend it"}.text()),
                 "a/b: it broke. Mend it."s);
        QCOMPARE((Error{Errc::Io, "it broke", {}, {}}.text()), "it broke."s);
        QCOMPARE((Error{Errc::Io, "it broke", {}, "Did you mean x?"}.text()),
                 "it broke. Did you mean x?"s);
    }

    void checkedSizes()
    {
        constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
        QCOMPARE(checkedMultiply(6, 7).value(), 42U);
        QVERIFY(!checkedMultiply(std::uint64_t{1} << 32U, std::uint64_t{1} << 32U));
        QVERIFY(!checkedAdd(most, 1));
        QVERIFY(rangeFits(3, 4, 7) && rangeFits(7, 0, 7));
        QVERIFY(!rangeFits(3, 5, 7) && !rangeFits(8, 0, 7) && !rangeFits(1, most, 7));
    }

    void globs_data()
    {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("matches");
        const auto row = [](const char* pattern, const char* name, bool matches) {
            QTest::addRow("%s on %s", pattern, name) << pattern << name << matches;
        };
        row("*", "", true);
        row("", "", true);
        row("", "a", false);
        row("model.layers.*.mlp.*", "model.layers.12.mlp.down_proj.out", true);
        row("model.layers.*.mlp.*", "model.layers.12.self_attn.out", false);
        row("*.out", "model.norm.out", true);
        row("*.out", "model.norm.output", false);
        row("a?c", "abc", true);
        row("a?c", "ac", false);
        row("*a*b*", "xxaxxbxx", true);
        row("*ab", "aab", true);
        row("[ab]", "a", false); // brackets stand for themselves
        row("[ab]", "[ab]", true);
        row("**", "anything", true);
    }
    void globs()
    {
        QFETCH(QString, pattern);
        QFETCH(QString, name);
        QFETCH(bool, matches);
        QCOMPARE(globMatches(pattern.toStdString(), name.toStdString()), matches);
    }

    void globsStayLinear()
    {
        const std::string name(20000, 'a');
        QVERIFY(!globMatches("*a*a*a*a*a*a*a*a*b", name));
    }

    void illFormedUtf8IsReplacedByMaximalParts()
    {
        // Unicode 15, table 3-11, and the same through Python's errors="replace".
        const std::string replacement = "\xEF\xBF\xBD";
        QCOMPARE(validUtf8("\xF1\x80\x80\xE1\x80\xC2"
                           "b\x80"
                           "c\x80\xBF"
                           "d"),
                 replacement + replacement + replacement + "b" + replacement + "c" + replacement
                     + replacement + "d");
        // A surrogate, a code point beyond U+10FFFF, an overlong slash, a cut sequence: 3+4+2+1.
        std::string ten;
        for (int i = 0; i < 10; ++i)
            ten += replacement;
        QCOMPARE(validUtf8("\xED\xA0\x80\xF4\x90\x80\x80\xC0\xAF\xE2\x82"), ten);
        QCOMPARE(validUtf8("Grüße €𝄞"), "Grüße €𝄞"s);
        QVERIFY(isValidUtf8("𝄞") && isValidUtf8("") && isValidUtf8("\0"s));
        QVERIFY(!isValidUtf8("\xF0\x9D\x84") && !isValidUtf8("\xFF"));
    }

    void visibleTextShowsWhatCannotBeSeen()
    {
        QCOMPARE(visibleText("a b"), "a b"s);
        QCOMPARE(visibleText("a\nb\tc\r"), "a\\nb\\tc\\r"s);
        QCOMPARE(visibleText("\x1B[31m"), "\\u001b[31m"s);
        QCOMPARE(visibleText("\0"s), "\\u0000"s);
        QCOMPARE(visibleText("x\u202Ey\u2066z\u200F"), "x\\u202ey\\u2066z\\u200f"s);
        QCOMPARE(visibleText("\xE2\x82"), "<0xE2><0x82>"s);
        QCOMPARE(visibleText("\u00A0é"), "\u00A0é"s);
        QCOMPARE(visibleText("\u0085"), "\\u0085"s);
    }

    void visibleTextShowsFormatCharacters()
    {
        QCOMPARE(visibleText("\u200B|\uFEFF|\u00AD|\u2060|\uFE0F|\u3164|\u2028"),
                 "\\u200b|\\ufeff|\\u00ad|\\u2060|\\ufe0f|\\u3164|\\u2028"s);
        QCOMPARE(visibleText("\U000E0041\U0001D173"), "\\U000e0041\\U0001d173"s);
        // Noncharacters: the byte-order mark turned round, and the last of a higher plane.
        QCOMPARE(visibleText("\xEF\xBF\xBE\xEF\xB7\x90\xF0\x9F\xBF\xBF"),
                 "\\ufffe\\ufdd0\\U0001ffff"s);
        // Category Cf, but drawn; a combining mark; what stands next to the ranges.
        for (const auto& seen : {"\u06DD"s, "e\u0301"s, "\u2027"s, "\u2010"s, "\uFE10"s, "\uFFFD"s})
            QCOMPARE(visibleText(seen), seen);
        QCOMPARE(visibleText(visibleText("\u200B\n")), "\\u200b\\n"s);
    }

    void shortenedText()
    {
        QCOMPARE(shortened("abc", 3), "abc"s);
        QCOMPARE(shortened("abcd", 3), "ab…"s);
        QCOMPARE(shortened("éüöä", 3), "éü…"s);
        QCOMPARE(shortened("ab", 1), "…"s);
        QCOMPARE(shortened("", 1), ""s);
        QCOMPARE(shortened(std::string(5000, 'x'), shownOfToken).size(), shownOfToken - 1 + 3);
    }

    void filesAreMapped()
    {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("file").toStdString();
        std::ofstream(path) << "twelve bytes";
        auto file = MappedFile::open(path);
        QVERIFY(file);
        QCOMPARE(file->bytes().size(), std::size_t{12});
        QVERIFY(static_cast<char>(file->bytes()[0]) == 't');
        MappedFile other = std::move(*file);
        QVERIFY(other.stillWhole());
        std::filesystem::resize_file(path, 3);
        QVERIFY(!other.stillWhole());
        std::filesystem::resize_file(path, 0);
        const auto empty = MappedFile::open(path);
        QVERIFY(empty && empty->bytes().empty());
    }

    void filesThatCannotBeMapped()
    {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const auto missing = MappedFile::open(root / "missing");
        QVERIFY(!missing && missing.error().code == Errc::NotFound);
        QVERIFY(missing.error().text().find("missing") != std::string::npos);
        QVERIFY(!missing.error().hint.empty());
        const auto directory = MappedFile::open(root);
        QVERIFY(!directory && directory.error().code == Errc::Invalid);
        const auto device = MappedFile::open("/dev/null");
        QVERIFY(!device && device.error().code == Errc::Invalid);
        if (::geteuid() == 0)
            QSKIP("root may read everything");
        std::ofstream(root / "secret") << "x";
        std::filesystem::permissions(root / "secret", std::filesystem::perms::none);
        const auto secret = MappedFile::open(root / "secret");
        QVERIFY(!secret && secret.error().code == Errc::Io);
    }

    void smallFiles()
    {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("small").toStdString();
        std::ofstream(path) << "text\n";
        QCOMPARE(*readSmallFile(path, 5), "text\n"s);
        const auto tooLong = readSmallFile(path, 4);
        QVERIFY(!tooLong && tooLong.error().code == Errc::Damaged);
        const auto missing = readSmallFile(path.string() + "-", 5);
        QVERIFY(!missing && missing.error().code == Errc::NotFound);
    }

    void systemErrorsSayWhatToDo()
    {
        const Error full = systemError(ENOSPC, "cannot write", "x");
        QVERIFY(full.code == Errc::NoSpace && !full.hint.empty());
        const Error readOnly = systemError(EROFS, "cannot write", "x");
        QVERIFY(readOnly.code == Errc::Io && !readOnly.hint.empty());
        QVERIFY(systemError(ENOENT, "cannot open", "x").code == Errc::NotFound);
    }
};

QTEST_APPLESS_MAIN(BaseTest)
#include "base_test.moc"
