// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/progress.h"
#include "core/numeric/digest.h"
#include "core/store/capture_file.h"
#include "core/store/mapped_run.h"
#include "core/store/verify.h"
#include "core/store/writer.h"
#include "tests/core/store/sample_run.h"
#include "tests/fuzz/bits.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <cstring>
#include <string>
#include <sys/resource.h>

using namespace moire;
using moire::fuzz::Bits;
using namespace moire::store;

namespace {

/// Damages a capture in ways that a mere flip of bits cannot: where a digest would give the damage
/// away, the digest is made to fit.
class Mutator
{
public:
    Mutator(std::string bytes, const CaptureFile& file)
        : m_bytes(std::move(bytes))
        , m_file(file)
    {
        std::memcpy(&m_block, m_bytes.data(), sizeof m_block);
        m_commitAddress = m_block.commitAddress + file.commit().sequence % 2 * sizeof(CommitRecord);
    }

    const std::string& mutate(Bits& bits)
    {
        m_changed = m_bytes;
        const std::uint64_t times = 1 + bits.below(3);
        for (std::uint64_t i = 0; i < times; ++i) {
            switch (bits.below(6)) {
            case 0:
                m_changed[bits.below(m_changed.size())] = static_cast<char>(bits.next());
                break;
            case 1:
                changeWord(m_commitAddress + 8 * bits.below(commitDigested), bits);
                break;
            case 2:
            case 3:
                changeRecord(static_cast<std::uint32_t>(bits.below(Rows)), bits);
                break;
            case 4:
                changeIndex(bits);
                break;
            default:
                changeWord(8 * (2 + bits.below(userBlockDigested - 2)), bits);
                break;
            }
        }
        seal();
        if (bits.below(8) == 0)
            m_changed.resize(bits.below(m_changed.size()));
        return m_changed;
    }

private:
    std::uint64_t wordAt(std::uint64_t address) const
    {
        std::uint64_t word = 0;
        if (address + sizeof word <= m_changed.size())
            std::memcpy(&word, m_changed.data() + address, sizeof word);
        return word;
    }
    void setWord(std::uint64_t address, std::uint64_t word)
    {
        if (address + sizeof word <= m_changed.size())
            std::memcpy(m_changed.data() + address, &word, sizeof word);
    }

    /// A number that readers tend to stumble over, often only in half of the word.
    void changeWord(std::uint64_t address, Bits& bits)
    {
        const std::uint64_t old = wordAt(address);
        const std::array<std::uint64_t, 10> awkward{
            0,     1,           old + 1,     old - 1,          old * 2,
            ~0ULL, 1ULL << 63U, 1ULL << 31U, m_changed.size(), bits.next()};
        const std::uint64_t word = awkward[bits.below(awkward.size())];
        const std::array<std::uint64_t, 4> masks{~0ULL, 0xFFFFFFFFULL, 0xFFFFFFFF00000000ULL,
                                                 0xFFULL};
        const std::uint64_t mask = masks[bits.below(masks.size())];
        setWord(address, (word & mask) | (old & ~mask));
    }

    /// Changes a word of a digested sequence and the digest with it.
    void changeDigested(std::uint64_t address, std::uint64_t place, std::uint64_t digestAddress,
                        Bits& bits)
    {
        const std::uint64_t old = wordAt(address);
        changeWord(address, bits);
        setWord(digestAddress, wordAt(digestAddress) - numeric::digestTerm(old, place)
                                   + numeric::digestTerm(wordAt(address), place));
    }

    void changeRecord(std::uint32_t table, Bits& bits)
    {
        const TableSpec spec = runTables()[table];
        const TablePlace* place = m_file.place(table);
        const std::uint64_t words = m_file.commit().tables[table].count * spec.recordBytes / 8;
        if (place == nullptr || words == 0 || spec.digestBytes != 8)
            return;
        const std::uint64_t word =
            bits.below(std::min(words, place->chunkRecords * spec.recordBytes / 8));
        changeDigested(place->addresses[0] + 8 * word, word,
                       m_commitAddress + offsetof(CommitRecord, tables)
                           + table * sizeof(CountAndDigest) + 8,
                       bits);
    }

    void changeIndex(Bits& bits)
    {
        const std::uint64_t words =
            std::min(m_file.commit().index.count, m_block.indexRecords - 1) * 2;
        const std::uint64_t word = bits.below(words);
        changeDigested(m_block.indexAddress + 8 * word, word,
                       m_commitAddress + offsetof(CommitRecord, index) + 8, bits);
    }

    void seal()
    {
        const auto* bytes = reinterpret_cast<const std::byte*>(m_changed.data());
        setWord(8 * userBlockDigested, digestFrom(bytes, 8 * userBlockDigested, 8, 0));
        setWord(m_commitAddress + 8 * commitDigested,
                digestFrom(bytes + m_commitAddress, 8 * commitDigested, 8, 0));
    }

    std::string m_bytes;
    std::string m_changed;
    const CaptureFile& m_file;
    UserBlock m_block{};
    std::uint64_t m_commitAddress = 0;
};

/// Reads all that a run offers; the sum keeps the reads from being left out.
std::uint64_t readEverything(const trace::Run& run)
{
    std::uint64_t sum = run.samples().size() + run.events().size();
    for (std::size_t s = 0; s < run.samples().size(); ++s)
        for (const trace::Token& token : run.tokens(static_cast<trace::SampleIndex>(s)))
            sum += token.bytes.size();
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r) {
        sum += run.samples()[indexOf(run.row(r).sample)].id.size();
        for (const std::uint64_t digest : run.digests(r))
            sum += digest;
        for (const trace::Counts& counts : run.counts(r))
            sum += counts.nan;
        for (const trace::Statistics& statistics : run.statistics(r))
            sum += statistics.max > 0 ? 1 : 0;
        for (std::size_t t = 0; t < run.header().taps.size(); ++t)
            if (const auto view = run.values(static_cast<trace::TapIndex>(t), r, r + 1))
                sum += numeric::rowDigest(view->row(r), view->dtype, view->width);
        if (const auto top = run.topK(r))
            for (const float value : top->values)
                sum += value > 0 ? 1 : 0;
        for (std::size_t j = 0; j < run.header().routers.size(); ++j)
            if (const auto routing = run.routing(j, r))
                for (const std::int32_t id : routing->ids)
                    sum += static_cast<std::uint64_t>(id);
    }
    return sum;
}

/// No damage may ask for more memory than this above what is in use (ASan reserves terabytes).
void limitMemory()
{
#ifndef __SANITIZE_ADDRESS__
    constexpr rlim_t limit = rlim_t{1} << 30U;
    const rlimit data{limit, limit};
    QCOMPARE(::setrlimit(RLIMIT_DATA, &data), 0);
#endif
}

} // namespace

class CaptureFileFuzz : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void survivesDamage_data();
    void survivesDamage();
};

void CaptureFileFuzz::survivesDamage_data()
{
    QTest::addColumn<bool>("finish");
    QTest::newRow("complete") << true;
    QTest::newRow("incomplete") << false;
}

void CaptureFileFuzz::survivesDamage()
{
    QFETCH(bool, finish);
    QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("run.moire").toStdString();
    const auto header = test::sampleHeader(trace::Level::Full);
    {
        auto writer = Writer::create(path, header, {5, false});
        QVERIFY(writer);
        QVERIFY(test::record(**writer, header, 4));
        QVERIFY((*writer)->flush());
        if (finish)
            QVERIFY((*writer)->finish({}));
    }
    const auto source = finish ? path : partialPathOf(path);
    const auto original = CaptureFile::open(source, OnDisagreement::Refuse);
    QVERIFY(original);
    QFile file(QString::fromStdString(source.string()));
    QVERIFY(file.open(QFile::ReadOnly));
    Mutator mutator(file.readAll().toStdString(), *original);
    limitMemory();

    const int count = qEnvironmentVariableIntValue("MOIRE_FUZZ_COUNT");
    volatile std::uint64_t sum = 0;
    for (int number = 0; number < (count > 0 ? count : 1500); ++number) {
        Bits bits(static_cast<std::uint64_t>(number));
        QFile damaged(folder.filePath("damaged.moire"));
        QVERIFY(damaged.open(QFile::WriteOnly));
        const std::string& bytes = mutator.mutate(bits);
        QVERIFY(damaged.write(bytes.data(), static_cast<qint64>(bytes.size())) >= 0);
        damaged.close();
        const std::filesystem::path name = damaged.fileName().toStdString();
        const auto run = MappedRun::open(name);
        if (run)
            sum = sum + readEverything(**run);
        else
            QVERIFY2(run.error().code == Errc::Damaged || run.error().code == Errc::Unsupported,
                     qPrintable(QString("%1: ").arg(number) + run.error().text().c_str()));
        base::Progress progress;
        const auto findings = verify(name, {}, progress);
        if (!findings)
            QVERIFY2(findings.error().code == Errc::Damaged
                         || findings.error().code == Errc::Unsupported,
                     qPrintable(QString("%1: ").arg(number) + findings.error().text().c_str()));
    }
}

QTEST_APPLESS_MAIN(CaptureFileFuzz)
#include "capture_file_fuzz.moc"
