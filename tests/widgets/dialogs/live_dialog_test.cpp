// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/dialogs/live_dialog.h"

#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>

#include <algorithm>

using namespace moire;
using namespace moire::widgets;

namespace {

bool says(const QWidget& dialog, const QString& words)
{
    const auto labels = dialog.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [&words](const QLabel* label) { return label->text().contains(words); });
}

QPushButton* startOf(const QWidget& dialog)
{
    for (auto* button : dialog.findChildren<QPushButton*>())
        if (button->objectName() == QStringLiteral("primary"))
            return button;
    return nullptr;
}

SidePlan file(const char* name)
{
    SidePlan side;
    side.isFile = true;
    side.file = QString::fromUtf8(name);
    return side;
}

SidePlan nobody()
{
    SidePlan side;
    side.daemon.address = QStringLiteral("127.0.0.1:1");
    return side;
}

} // namespace

/// The form of a live comparison, without a daemon.
class LiveDialogTest : public QObject
{
    Q_OBJECT

private:
    Look m_look{ThemeKind::Light};

private Q_SLOTS:
    void startsOnlyWithWhatItNeeds()
    {
        LivePlan plan;
        plan.reference = file("a.moire");
        plan.target = file("b.moire");
        LiveDialog two(m_look, plan);
        QVERIFY(!startOf(two)->isEnabled());
        QVERIFY(says(two, QStringLiteral("Two files need no daemon")));

        plan.target = nobody();
        LiveDialog one(m_look, plan);
        QVERIFY(!startOf(one)->isEnabled());
        QVERIFY(says(one, QStringLiteral("scores the samples and tokens of the file")));
        QVERIFY(!one.findChild<QPlainTextEdit*>()->isEnabled()); // the file has its prompts
        QTRY_VERIFY(says(one, QStringLiteral("nobody answers there")));
    }

    void keepsWhatWasWritten()
    {
        LivePlan plan;
        plan.reference = nobody();
        plan.reference.daemon.key = QStringLiteral("me.key");
        plan.reference.policy = QStringLiteral("bf16");
        plan.reference.options = QStringLiteral("--tp 2");
        plan.target = file("b.moire");
        plan.text = QStringLiteral("Once upon a time");
        plan.maxNew = 7;
        plan.taps = QStringLiteral("*.mlp.*");
        plan.level = QStringLiteral("topk");
        plan.lossless = false;
        const LiveDialog dialog(m_look, plan);
        QVERIFY(dialog.plan() == plan);
    }

    /// What the user typed is given as it stands, and what is missing is said.
    void plansBecomeRequests()
    {
        LivePlan plan;
        SidePlan side = nobody();
        QVERIFY(!requestOf(plan, side)); // no model
        side.model = QStringLiteral("olmoe");
        const auto unprompted = requestOf(plan, side);
        QVERIFY(!unprompted);
        QVERIFY(unprompted.error().sentence.find("no prompt") != std::string::npos);
        QVERIFY(requestOf(plan, side, true)); // it scores another's tokens
        plan.text = QStringLiteral("Once");
        plan.taps = QStringLiteral("*.mlp.* lm_head");
        side.arithmetic = QStringLiteral("native");
        side.options = QStringLiteral("--arithmetic ordered --taps '*.attn.*' --ignore-eos");
        const auto request = requestOf(plan, side);
        QVERIFY2(request, request ? "" : request.error().text().c_str());
        QCOMPARE(std::get<std::string>(request->options.at("arithmetic")), std::string("ordered"));
        QCOMPARE(std::get<std::vector<std::string>>(request->options.at("taps")),
                 std::vector<std::string>{"*.attn.*"});
        QCOMPARE(std::get<bool>(request->options.at("ignore-eos")), true);
    }
};

QTEST_MAIN(LiveDialogTest)
#include "live_dialog_test.moc"
