// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/key_ring.h"
#include "core/wire/keys.h"
#include "core/wire/protocol.h"

#include <QTemporaryDir>
#include <QTest>

#include <zmq.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <sys/stat.h>

using namespace moire;
using namespace moire::wire;
using namespace std::chrono_literals;

namespace {

// RFC 7748's keys are those of the ZeroMQ CURVE documents (zmq_curve(7)): server and client.
const std::string serverPublic = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
const std::string serverSecret = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6";
const std::string clientPublic = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";

void write(const std::filesystem::path& path, const std::string& text, mode_t mode = 0600)
{
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
}

mode_t modeOf(const std::filesystem::path& path)
{
    struct stat state
    {
    };
    ::stat(path.c_str(), &state);
    return state.st_mode & 0777U;
}

} // namespace

class KeysTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void printsAsTheStandardSays();
    void makesPairsThatBelongTogether();
    void writesSecretsForTheirOwnerOnly();
    void neverOverwrites();
    void refusesSecretsThatOthersCanRead();
    void refusesWhatIsNoKey_data();
    void refusesWhatIsNoKey();
    void readsKeysGivenAsTextOrFile();
    void readsAFolder();
    void ringNoticesChanges();
    void deskAsksTheRing();
    void deskAnswersManyRefusalsLate();

private:
    QTemporaryDir m_folder;
    std::filesystem::path m_path;
};

void KeysTest::init()
{
    m_path = std::filesystem::path(m_folder.path().toStdString()) / QTest::currentTestFunction();
    if (const char* tag = QTest::currentDataTag())
        m_path /= tag;
    std::filesystem::create_directories(m_path);
}

void KeysTest::printsAsTheStandardSays()
{
    // The first 16 bytes of SHA-256: FIPS 180-4's examples, and a key's (from sha256sum).
    QCOMPARE(fingerprintOf("abc"), std::string("ba78 16bf 8f01 cfea 4141 40de 5dae 2223"));
    QCOMPARE(fingerprintOf(""), std::string("e3b0 c442 98fc 1c14 9afb f4c8 996f b924"));
    QCOMPARE(fingerprintOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
             std::string("248d 6a61 d206 38b8 e5c0 2693 0c3e 6039"));
    QCOMPARE(fingerprintOf(serverPublic), std::string("8411 2785 d109 2a7e ffc2 5904 531a da76"));
}

void KeysTest::makesPairsThatBelongTogether()
{
    const auto one = makeKeyPair();
    const auto other = makeKeyPair();
    QVERIFY(one && other);
    QVERIFY(one->secretKey != other->secretKey);
    QCOMPARE(*publicKeyOf(one->secretKey), one->publicKey);
    QCOMPARE(*publicKeyOf(serverSecret), serverPublic);
    QVERIFY(!publicKeyOf("short"));
}

void KeysTest::writesSecretsForTheirOwnerOnly()
{
    const mode_t before = ::umask(0);
    const auto pair = makeKeyPair();
    const auto written = writeKeyPair(m_path / "me", *pair);
    ::umask(before);
    QVERIFY(written);
    QCOMPARE(modeOf(m_path / "me.key"), mode_t{0600});
    QCOMPARE(modeOf(m_path / "me.pub"), mode_t{0644});
    const auto read = readKeyPair(m_path / "me.key");
    QVERIFY(read);
    QCOMPARE(read->publicKey, pair->publicKey);
    QCOMPARE(read->secretKey, pair->secretKey);
    QCOMPARE(*readPublicKey((m_path / "me.pub").string()), pair->publicKey);
    std::ifstream file(m_path / "me.pub");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    QVERIFY(text.find(pair->secretKey) == text.npos);
}

void KeysTest::neverOverwrites()
{
    const auto pair = makeKeyPair();
    write(m_path / "a.key", "mine");
    QCOMPARE(writeKeyPair(m_path / "a", *pair).error().code, Errc::Invalid);
    QVERIFY(!std::filesystem::exists(m_path / "a.pub"));
    write(m_path / "b.pub", "mine");
    QCOMPARE(writeKeyPair(m_path / "b", *pair).error().code, Errc::Invalid);
    QVERIFY(!std::filesystem::exists(m_path / "b.key"));
    std::filesystem::create_symlink(m_path / "nowhere", m_path / "c.key");
    QCOMPARE(writeKeyPair(m_path / "c", *pair).error().code, Errc::Invalid);
    QVERIFY(!std::filesystem::exists(m_path / "nowhere"));
    QCOMPARE(writeKeyPair(m_path / "no folder" / "d", *pair).error().code, Errc::NotFound);
}

void KeysTest::refusesSecretsThatOthersCanRead()
{
    QVERIFY(writeKeyPair(m_path / "me", *makeKeyPair()));
    for (const mode_t mode : {0640, 0604, 0660}) {
        ::chmod((m_path / "me.key").c_str(), mode);
        const auto read = readKeyPair(m_path / "me.key");
        QCOMPARE(read.error().code, Errc::Invalid);
        QVERIFY(!read.error().hint.empty());
    }
    QCOMPARE(readKeyPair(m_path / "you.key").error().code, Errc::NotFound);
}

void KeysTest::refusesWhatIsNoKey_data()
{
    QTest::addColumn<QString>("text");
    QTest::newRow("empty") << "";
    QTest::newRow("short") << "secret abc\n";
    QTest::newRow("long") << "secret " + QString::fromStdString(serverSecret) + "x\n";
    QTest::newRow("not Z85") << "secret " + QString(40, '"') + "\n";
    QTest::newRow("another public key") << "public " + QString::fromStdString(clientPublic)
                                               + "\nsecret " + QString::fromStdString(serverSecret)
                                               + "\n";
    QTest::newRow("large") << QString(5000, 'x');
}

void KeysTest::refusesWhatIsNoKey()
{
    QFETCH(QString, text);
    write(m_path / "x.key", text.toStdString());
    const auto read = readKeyPair(m_path / "x.key");
    QVERIFY(!read);
    QCOMPARE(read.error().code, Errc::Invalid);
    QVERIFY(read.error().text().find(serverSecret) == std::string::npos);
}

void KeysTest::readsKeysGivenAsTextOrFile()
{
    QCOMPARE(*readPublicKey(serverPublic), serverPublic);
    write(m_path / "s.pub", "# a remark\n" + serverPublic + "\r\n");
    QCOMPARE(*readPublicKey((m_path / "s.pub").string()), serverPublic);
    write(m_path / "s.key", "secret " + serverSecret + "\n");
    QCOMPARE(*readPublicKey((m_path / "s.key").string()), serverPublic);
    QVERIFY(!readPublicKey("no such file"));
    QVERIFY(!readPublicKey(m_path.string()));
}

void KeysTest::readsAFolder()
{
    QCOMPARE(readAuthorisedKeys(m_path / "none").error().code, Errc::NotFound);
    QVERIFY(readAuthorisedKeys(m_path)->empty());
    write(m_path / "a.pub", serverPublic);
    write(m_path / "b.pub", clientPublic + "\n");
    write(m_path / "note.txt", "not looked at");
    QCOMPARE(readAuthorisedKeys(m_path)->size(), std::size_t{2});
    write(m_path / "broken.pub", "hello");
    const auto broken = readAuthorisedKeys(m_path);
    QVERIFY(!broken);
    QVERIFY(broken.error().place.find("broken.pub") != std::string::npos);
    std::vector<Error> troubles;
    QCOMPARE(soundKeys(m_path, troubles).size(), std::size_t{2});
    QCOMPARE(troubles.size(), std::size_t{1});
}

void KeysTest::ringNoticesChanges()
{
    std::vector<std::string> said;
    KeyRing ring(m_path, [&](const std::string& line) { said.push_back(line); });
    QVERIFY(ring.keys().empty());
    write(m_path / "a.pub", serverPublic);
    write(m_path / "broken.pub", "hello");
    ring.read();
    ring.read();
    QCOMPARE(ring.keys(), std::set<std::string>{serverPublic});
    QCOMPARE(said.size(), std::size_t{1}); // once
    QVERIFY(!ring.lostOne());
    std::filesystem::remove(m_path / "a.pub");
    ring.read();
    QVERIFY(ring.keys().empty());
    QVERIFY(ring.lostOne());
    QVERIFY(!ring.lostOne());
}

void KeysTest::deskAsksTheRing()
{
    write(m_path / "a.pub", clientPublic);
    KeyRing ring(m_path, {});
    ZapDesk desk(ring);
    std::array<std::uint8_t, 32> raw{};
    zmq_z85_decode(raw.data(), clientPublic.c_str());
    const std::string credentials(raw.begin(), raw.end());
    const ZapDesk::Frames good{"1.0", "7", "moire", "127.0.0.1", "", "CURVE", credentials};
    const ZapDesk::Time now{1h};
    QVERIFY(desk.ask("who", good, now).empty());
    QCOMPARE(desk.due(now),
             (std::vector<ZapDesk::Frames>{{"who", "", "1.0", "7", "200", "", clientPublic, ""}}));
    auto wrong = good;
    wrong[6][0] = static_cast<char>(wrong[6][0] ^ 1);
    auto elsewhere = good;
    elsewhere[2] = "global";
    auto plain = good;
    plain[5] = "NULL";
    for (const ZapDesk::Frames& request :
         {wrong, elsewhere, plain, ZapDesk::Frames{}, ZapDesk::Frames{"1.0"},
          ZapDesk::Frames{"1.0", "7", "moire", "", "", "CURVE", "short"}}) {
        const std::string line = desk.ask("who", request, now);
        QVERIFY(!line.empty());
        QVERIFY(line.find(clientPublic) == line.npos);
        QCOMPARE(desk.due(now).at(0).at(4), std::string("400"));
    }
}

void KeysTest::deskAnswersManyRefusalsLate()
{
    write(m_path / "a.pub", clientPublic);
    KeyRing ring(m_path, {});
    ZapDesk desk(ring);
    ZapDesk::Time now{1h};
    const ZapDesk::Frames wrong{"1.0", "7", "moire", "", "", "CURVE", std::string(32, 'x')};
    for (int i = 0; i < 20; ++i)
        QVERIFY(!desk.ask("who", wrong, now).empty());
    QCOMPARE(desk.due(now).size(), std::size_t{8});
    QVERIFY(desk.waits());
    QCOMPARE(desk.due(now + 999ms).size(), std::size_t{0});
    QCOMPARE(desk.due(now + 1s).size(), std::size_t{12});
    QVERIFY(!desk.waits());
    for (int i = 0; i < 10'000; ++i)
        QVERIFY(!desk.ask("who", wrong, now).empty());
    QCOMPARE(desk.due(now).size(), std::size_t{10'000 - 256});
}

QTEST_APPLESS_MAIN(KeysTest)
#include "keys_test.moc"
