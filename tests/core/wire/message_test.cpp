// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/message.h"
#include "core/wire/protocol.h"

#include <QtTest/QtTest>

#include <limits>

using namespace moire;
using namespace moire::wire;

namespace {

std::vector<std::byte> bytesOf(const QByteArray& hex)
{
    const QByteArray raw = QByteArray::fromHex(hex);
    const auto bytes = std::as_bytes(std::span(raw.data(), static_cast<std::size_t>(raw.size())));
    return {bytes.begin(), bytes.end()};
}

QByteArray hexOf(const std::vector<std::byte>& bytes)
{
    return QByteArray(reinterpret_cast<const char*>(bytes.data()),
                      static_cast<qsizetype>(bytes.size()))
        .toHex();
}

} // namespace

class MessageTest : public QObject
{
    Q_OBJECT

private slots:
    /// Encodings as RFC 8949, appendix A, lists them, each within a map {"a": …}.
    void writesWhatTheStandardLists_data()
    {
        QTest::addColumn<QByteArray>("item");
        QTest::addColumn<QByteArray>("json");
        QTest::newRow("0") << QByteArray("00") << QByteArray("0");
        QTest::newRow("23") << QByteArray("17") << QByteArray("23");
        QTest::newRow("24") << QByteArray("1818") << QByteArray("24");
        QTest::newRow("1000") << QByteArray("1903e8") << QByteArray("1000");
        QTest::newRow("1000000000000")
            << QByteArray("1b000000e8d4a51000") << QByteArray("1000000000000");
        QTest::newRow("-1") << QByteArray("20") << QByteArray("-1");
        QTest::newRow("-1000") << QByteArray("3903e7") << QByteArray("-1000");
        QTest::newRow("1.1") << QByteArray("fb3ff199999999999a") << QByteArray("1.1");
        QTest::newRow("false") << QByteArray("f4") << QByteArray("false");
        QTest::newRow("true") << QByteArray("f5") << QByteArray("true");
        QTest::newRow("text") << QByteArray("6449455446") << QByteArray("\"IETF\"");
        QTest::newRow("ü") << QByteArray("62c3bc") << QByteArray("\"\\u00fc\"");
        QTest::newRow("list") << QByteArray("83010203") << QByteArray("[1,2,3]");
        QTest::newRow("empty map") << QByteArray("a0") << QByteArray("{}");
    }
    void writesWhatTheStandardLists()
    {
        QFETCH(QByteArray, item);
        QFETCH(QByteArray, json);
        const Fields fields = Fields::parse("{\"a\":" + json.toStdString() + '}');
        QCOMPARE(hexOf(encodeFields(fields)), QByteArray("a16161") + item);
        const auto read = decodeFields(bytesOf("a16161" + item), clientLimits);
        QVERIFY(read);
        QVERIFY(*read == fields);
    }

    void textThatIsNotUtf8TravelsAsBytes()
    {
        const std::string broken = "a\xff";
        const auto cbor = encodeFields({{"t", broken}});
        QCOMPARE(hexOf(cbor), QByteArray("a161744261ff"));
        const auto read = decodeFields(cbor, clientLimits);
        QVERIFY(read);
        const auto text = textField(*read, "t");
        QVERIFY(text);
        QCOMPARE(*text, broken);
    }

    void refusesWhatIsNoHeader_data()
    {
        QTest::addColumn<QByteArray>("hex");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("nothing") << QByteArray() << "cut short";
        QTest::newRow("a number") << QByteArray("01") << "no CBOR map";
        QTest::newRow("a number as a key") << QByteArray("a10101") << "no CBOR map";
        QTest::newRow("cut in a key") << QByteArray("a16261") << "cut short";
        QTest::newRow("cut before the value") << QByteArray("a16161") << "cut short";
        QTest::newRow("bytes behind it") << QByteArray("a000") << "behind its end";
        QTest::newRow("indefinite map") << QByteArray("bf6161f5ff") << "indefinite";
        QTest::newRow("indefinite text") << QByteArray("a161617f6161ff") << "indefinite";
        QTest::newRow("a tag") << QByteArray("a16161c074") << "tag";
        QTest::newRow("reserved") << QByteArray("a161611c") << "reserved";
        QTest::newRow("text not UTF-8") << QByteArray("a1616162ff00") << "UTF-8";
        QTest::newRow("an enormous list") << QByteArray("a161619b7fffffffffffffff") << "cut short";
        QTest::newRow("an enormous map") << QByteArray("bbffffffffffffffff") << "cut short";
        QTest::newRow("an enormous text") << QByteArray("a161617bffffffffffffffff") << "cut short";
        QTest::newRow("beyond 63 bits") << QByteArray("a161611bffffffffffffffff") << "64 bits";
        QTest::newRow("undefined") << QByteArray("a16161f7") << "means nothing";
        QTest::newRow("a million lists in each other")
            << "a16161" + QByteArray(2'000'000, '8').replace("88", "81") << "nested too deeply";
    }
    void refusesWhatIsNoHeader()
    {
        QFETCH(QByteArray, hex);
        QFETCH(QString, sentence);
        const auto read = decodeFields(bytesOf(hex), clientLimits);
        QVERIFY(!read);
        QCOMPARE(read.error().code, Errc::Damaged);
        const QString said = QString::fromStdString(read.error().text());
        QVERIFY2(said.contains(sentence), qPrintable(said));
    }

    void nestingHasALimit()
    {
        // The map is one of them, the number inside takes none.
        const auto nested = [](std::size_t lists) {
            return bytesOf("a16161" + QByteArray("81").repeated(static_cast<qsizetype>(lists))
                           + "00");
        };
        QVERIFY(decodeFields(nested(maxNesting - 1), clientLimits));
        QVERIFY(!decodeFields(nested(maxNesting), clientLimits));
    }

    void limitsHoldBeforeDecoding()
    {
        MessageLimits limits{8, 3, 2, 1};
        const auto three = bytesOf("a1617401"); // map, key, number
        QVERIFY(decodeFields(three, limits));
        limits.headerItems = 2;
        QVERIFY(!decodeFields(three, limits));
        limits = {3, 3, 2, 1};
        QCOMPARE(decodeFields(three, limits).error().code, Errc::Invalid);

        Packed packed{Frame::of(bytesOf("a1617461 61")), {Frame::of(bytesOf("0001"))}};
        limits = {8, 3, 2, 1};
        QVERIFY(unpack(packed, limits));
        packed.frames.push_back(packed.frames.front());
        QVERIFY(!unpack(packed, limits));
        packed.frames = {Frame::of(bytesOf("000102"))};
        QVERIFY(!unpack(packed, limits));
    }

    void fieldsAreCheckedByNameAndKind()
    {
        const Fields fields{{"t", "x"},  {"n", 5},   {"s", "w"},
                            {"f", true}, {"d", 1.5}, {"l", {1, -2}}};
        QVERIFY(integerField(fields, "n", 0, 5));
        QVERIFY(!integerField(fields, "n", 0, 4));
        QVERIFY(!integerField(fields, "d", 0, 4));
        QVERIFY(!integerField(fields, "f", 0, 4));
        QVERIFY(numberField(fields, "n"));
        QVERIFY(!numberField(fields, "s"));
        QVERIFY(!flagField(fields, "n"));
        QVERIFY(!textField(fields, "n"));
        QVERIFY(integersField(fields, "l", -2, 1));
        QVERIFY(!integersField(fields, "l", 0, 1));
        QCOMPARE(textField(fields, "name").error().text(),
                 std::string("the message \"x\" has no text \"name\"."));
        QVERIFY(!integerField(Fields{{"n", std::numeric_limits<double>::quiet_NaN()}}, "n", 0, 1));
    }

    void refusalsComeBackAsErrors()
    {
        const Error error{Errc::NotFound, "no such model", "a/b", "Ask for models"};
        const auto back = unpack(pack(refusal(reasonOf(error.code), error)), clientLimits);
        QVERIFY(back);
        const Error read = errorOf(*back);
        QCOMPARE(read.code, Errc::NotFound);
        QCOMPARE(read.sentence, std::string("a/b: no such model"));
        QCOMPARE(read.hint, std::string("Ask for models"));
        for (const Errc code : {Errc::NotFound, Errc::Invalid, Errc::Unsupported, Errc::NoSpace,
                                Errc::Cancelled, Errc::Internal})
            QCOMPARE(errorOf(refusal(reasonOf(code), {code, "s", {}, {}})).code, code);
    }
};

QTEST_APPLESS_MAIN(MessageTest)
#include "message_test.moc"
