// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/byte_spans.h"
#include "core/diff/token_alignment.h"

#include <QtTest>

#include <algorithm>
#include <random>
#include <string>

using namespace moire;
using namespace moire::diff;

namespace {

using Ids = std::vector<std::int32_t>;

/// The length by the plain table.
std::size_t plainLength(const Ids& a, const Ids& b)
{
    std::vector<std::size_t> below(b.size() + 1, 0);
    for (std::size_t i = a.size(); i-- > 0;) {
        std::vector<std::size_t> row(b.size() + 1, 0);
        for (std::size_t j = b.size(); j-- > 0;)
            row[j] = a[i] == b[j] ? below[j + 1] + 1 : std::max(below[j], row[j + 1]);
        below = row;
    }
    return below[0];
}

/// "" when it is a common subsequence as long as the plain table's.
std::string judged(const Ids& a, const Ids& b)
{
    const auto matches = longestCommonSubsequence(a, b);
    for (std::size_t k = 0; k < matches.size(); ++k) {
        if (matches[k].reference >= a.size() || matches[k].target >= b.size()
            || a[matches[k].reference] != b[matches[k].target])
            return "ids of match " + std::to_string(k) + " differ";
        if (k > 0
            && (matches[k].reference <= matches[k - 1].reference
                || matches[k].target <= matches[k - 1].target))
            return "match " + std::to_string(k) + " goes back";
    }
    const std::size_t length = plainLength(a, b);
    return matches.size() == length
               ? std::string()
               : std::to_string(matches.size()) + " is not " + std::to_string(length);
}

Ids drawn(std::mt19937& engine, std::size_t length, std::uint32_t alphabet)
{
    Ids ids(length);
    for (std::int32_t& id : ids)
        id = static_cast<std::int32_t>(engine() % alphabet);
    return ids;
}

std::string blocksOf(const TokenAlignment& alignment)
{
    std::string text;
    for (const TokenBlock& block : alignment.blocks)
        text += std::to_string(block.referenceBegin) + '+' + std::to_string(block.referenceLength)
                + '/' + std::to_string(block.targetBegin) + '+' + std::to_string(block.targetLength)
                + (block.sameTokens ? "" : "!") + ' ';
    if (alignment.split)
        text += "split " + std::to_string(*alignment.split) + '/'
                + std::to_string(*alignment.targetSplit);
    return text;
}

/// Tokens of words split at '|'.
std::vector<trace::Token> tokensOf(const std::string& text)
{
    std::vector<trace::Token> tokens;
    std::string bytes;
    for (const char c : text + '|') {
        if (c != '|') {
            bytes += c;
            continue;
        }
        trace::Token token;
        token.id = static_cast<std::int32_t>(std::hash<std::string>()(bytes) % 1000);
        token.bytes = bytes;
        tokens.push_back(token);
        bytes.clear();
    }
    return tokens;
}

} // namespace

class TokenAlignmentTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void againstThePlainTable();
    void acrossWords();
    void blocks();
    void runsStayTogether();
    void bytes_data();
    void bytes();
};

void TokenAlignmentTest::againstThePlainTable()
{
    std::mt19937 engine(1);
    for (int i = 0; i < 3000; ++i) {
        const Ids a = drawn(engine, engine() % 90, 1 + static_cast<std::uint32_t>(engine() % 12));
        Ids b = drawn(engine, engine() % 90, 1 + static_cast<std::uint32_t>(engine() % 12));
        if (i % 5 == 0) { // an edited copy
            b = a;
            for (int k = 0; k < 6 && !b.empty(); ++k)
                b.erase(b.begin() + static_cast<std::ptrdiff_t>(engine() % b.size()));
        }
        QCOMPARE(judged(a, b), std::string());
    }
    QCOMPARE(judged({}, {}), std::string());
    QCOMPARE(judged({1}, {}), std::string());
}

void TokenAlignmentTest::acrossWords()
{
    std::mt19937 engine(2);
    for (const std::uint32_t alphabet : {2U, 3U, 40U, 1000U}) {
        const Ids a = drawn(engine, 900, alphabet);
        const Ids b = drawn(engine, 1500, alphabet);
        QCOMPARE(judged(a, b), std::string());
        QCOMPARE(judged(b, a), std::string());
    }
}

void TokenAlignmentTest::blocks()
{
    const Ids a{1, 2, 3, 9, 10, 11, 12, 13, 14, 15, 16, 17, 5, 20, 21, 22};
    QCOMPARE(blocksOf(alignTokens(a, a)), std::string("0+16/0+16 "));
    Ids b = a;
    b.pop_back();
    QCOMPARE(blocksOf(alignTokens(a, b)), std::string("0+15/0+15 "));
    // The third token differs and one more stands before the long run; "20 21 22" is too short.
    b = {1, 2, 4, 99, 9, 10, 11, 12, 13, 14, 15, 16, 17, 6, 6, 20, 21, 22};
    QCOMPARE(blocksOf(alignTokens(a, b)), std::string("0+2/0+2 3+9/4+9 split 2/2"));
    QCOMPARE(blocksOf(alignTokens(Ids{1}, Ids{2})), std::string("split 0/0"));
    QCOMPARE(blocksOf(alignTokens(Ids{}, Ids{2})), std::string());
}

void TokenAlignmentTest::runsStayTogether()
{
    // Of the two 7s of the target either could be matched: the one next to the run is.
    const Ids a{1, 7, 30, 31, 32, 33, 34, 35, 36, 2};
    const Ids b{3, 7, 50, 7, 30, 31, 32, 33, 34, 35, 36, 4};
    QCOMPARE(blocksOf(alignTokens(a, b)), std::string("1+8/3+8 split 0/0"));
}

void TokenAlignmentTest::bytes_data()
{
    QTest::addColumn<QString>("reference");
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("blocks");
    QTest::newRow("equal") << "the| cat"
                           << "the| cat"
                           << "0+2/0+2 ";
    QTest::newRow("joined") << "the| ca|t| sat"
                            << "the| cat| sat"
                            << "0+1/0+1 1+2/1+1! 3+1/2+1 ";
    QTest::newRow("crossing") << "ab|c|d"
                              << "a|bc|d"
                              << "0+2/0+2! 2+1/2+1 ";
    QTest::newRow("text parts") << "the| cat| sat"
                                << "the| cow| sat"
                                << "0+1/0+1 split 1/1";
    QTest::newRow("text parts inside") << "the| c|at"
                                       << "the| cow"
                                       << "0+1/0+1 split 1/1";
    QTest::newRow("prefix") << "the| cat"
                            << "the"
                            << "0+1/0+1 ";
    QTest::newRow("ends inside") << "the| cat"
                                 << "the| ca"
                                 << "0+1/0+1 split 1/1";
    QTest::newRow("beginning of one") << "<s>|the| cat"
                                      << "the| cat"
                                      << "0+1/0+0! 1+2/0+2 ";
    QTest::newRow("beginning of the other") << "the| cat"
                                            << "<s>|the| cat"
                                            << "0+0/0+1! 0+2/1+2 ";
    QTest::newRow("two beginnings") << "<s>|the| cat"
                                    << "<b>|the| cat"
                                    << "0+1/0+1! 1+2/1+2 ";
}

void TokenAlignmentTest::bytes()
{
    QFETCH(QString, reference);
    QFETCH(QString, target);
    const auto a = tokensOf(reference.toStdString());
    const auto b = tokensOf(target.toStdString());
    QTEST(QString::fromStdString(blocksOf(alignBytes(a, b, Vocabulary::Other))), "blocks");
}

QTEST_APPLESS_MAIN(TokenAlignmentTest)
#include "token_alignment_test.moc"
