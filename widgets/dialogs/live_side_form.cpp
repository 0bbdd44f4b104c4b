// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/dialogs/live_side_form.h"

#include "core/base/text.h"
#include "widgets/dialogs/open_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include <utility>

namespace moire::widgets {

namespace {

constexpr int daemonSource = 0;
constexpr int fileSource = 1;
constexpr int stateLines = 2;

QComboBox* makeChoice(const QStringList& words, const QString& hint)
{
    auto* choice = new QComboBox;
    choice->setEditable(true);
    choice->addItems(words);
    choice->setCurrentText(QString());
    choice->lineEdit()->setPlaceholderText(hint);
    return choice;
}

/// A field and a button beside it.
QWidget* beside(QWidget* field, QWidget* button)
{
    auto* both = new QWidget;
    auto* layout = new QHBoxLayout(both);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Look::step);
    layout->addWidget(field, 1);
    layout->addWidget(button);
    return both;
}

QToolButton* makeButton(const QString& text)
{
    auto* button = new QToolButton;
    button->setText(text);
    return button;
}

} // namespace

LiveSideForm::LiveSideForm(const Look& look, const QString& title, const QColor& colour,
                           QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_form(new QFormLayout(this))
    , m_source(new QComboBox)
    , m_file(new QLineEdit)
    , m_address(new QLineEdit)
    , m_keys(makeButton(QStringLiteral("Keys…")))
    , m_key(new QLineEdit)
    , m_serverKey(new QLineEdit)
    , m_insecure(new QCheckBox(QStringLiteral("Not encrypted, to another machine")))
    , m_state(new QLabel)
    , m_model(new QComboBox)
    , m_policy(makeChoice({QStringLiteral("bf16"), QStringLiteral("fp16"), QStringLiteral("fp32"),
                           QStringLiteral("layercast"), QStringLiteral("nomlp")},
                          QStringLiteral("the model's own")))
    , m_arithmetic(makeChoice({QStringLiteral("native"), QStringLiteral("ordered")},
                              QStringLiteral("native")))
    , m_options(new QLineEdit)
    , m_estimate(new QLabel)
{
    build(title, colour);
    connect(&m_link, &DaemonLink::changed, this, &LiveSideForm::showLink);
    connect(&m_link, &DaemonLink::modelsChanged, this, &LiveSideForm::fillModels);
    for (QComboBox* choice : {m_policy, m_arithmetic})
        connect(choice, &QComboBox::currentTextChanged, this, &LiveSideForm::changed);
    connect(m_model, &QComboBox::currentIndexChanged, this, &LiveSideForm::changed);
    for (QLineEdit* edit : {m_file, m_options})
        connect(edit, &QLineEdit::textChanged, this, &LiveSideForm::changed);
    for (QLineEdit* edit : {m_address, m_key, m_serverKey})
        connect(edit, &QLineEdit::editingFinished, this, &LiveSideForm::connectNow);
    connect(m_insecure, &QCheckBox::toggled, this, &LiveSideForm::connectNow);
    connect(m_source, &QComboBox::currentIndexChanged, this, &LiveSideForm::showSource);
    connect(m_keys, &QToolButton::toggled, this, &LiveSideForm::showSource);
    showSource();
    showLink();
}

void LiveSideForm::build(const QString& title, const QColor& colour)
{
    m_form->setContentsMargins(0, 0, 0, 0);
    m_form->setVerticalSpacing(Look::step);
    m_form->setHorizontalSpacing(Look::gap);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_form->setLabelAlignment(Qt::AlignLeft);
    auto* heading = new QLabel(title);
    heading->setStyleSheet(QStringLiteral("color: %1; font-weight: 600").arg(colour.name()));
    m_form->addRow(heading);
    m_source->addItems({QStringLiteral("A daemon"), QStringLiteral("A capture file")});
    m_form->addRow(QStringLiteral("From"), m_source);
    auto* fileButton = makeButton(QStringLiteral("Browse…"));
    connect(fileButton, &QToolButton::clicked, this,
            [this] { browse(m_file, QStringLiteral("Choose a capture"), captureFilter()); });
    m_file->setPlaceholderText(QStringLiteral("a .moire file"));
    m_form->addRow(QStringLiteral("File"), beside(m_file, fileButton));
    buildDaemon();
    m_estimate->setFont(m_look.font(TextRole::Small));
    m_estimate->setWordWrap(true);
    m_form->addRow(QString(), m_estimate);
}

void LiveSideForm::buildDaemon()
{
    m_address->setPlaceholderText(QStringLiteral("host:7431"));
    m_keys->setCheckable(true);
    m_keys->setToolTip(QStringLiteral("Encrypted links: your key and the daemon's"));
    m_form->addRow(QStringLiteral("Address"), beside(m_address, m_keys));
    auto* keyButton = makeButton(QStringLiteral("Browse…"));
    connect(keyButton, &QToolButton::clicked, this, [this] {
        browse(m_key, QStringLiteral("Choose your key"), QStringLiteral("Keys (*.key)"));
        connectNow();
    });
    m_key->setPlaceholderText(QStringLiteral("a .key file of moire-capture keygen"));
    m_form->addRow(QStringLiteral("Your key"), beside(m_key, keyButton));
    m_serverKey->setPlaceholderText(
        QStringLiteral("the daemon's server.pub, or its 40 characters"));
    m_form->addRow(QStringLiteral("Its key"), m_serverKey);
    m_form->addRow(QString(), m_insecure);
    m_state->setFont(m_look.font(TextRole::Small));
    m_state->setWordWrap(true);
    m_state->setTextFormat(Qt::PlainText);
    m_state->setMinimumHeight(stateLines * QFontMetrics(m_state->font()).lineSpacing());
    m_state->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_form->addRow(QString(), m_state);
    m_form->addRow(QStringLiteral("Model"), m_model);
    m_form->addRow(QStringLiteral("Policy"), m_policy);
    m_form->addRow(QStringLiteral("Arithmetic"), m_arithmetic);
    m_options->setPlaceholderText(QStringLiteral("--tp 2 --reduce ring"));
    m_options->setToolTip(QStringLiteral("Any further options of moire-capture run"));
    m_form->addRow(QStringLiteral("Options"), m_options);
}

void LiveSideForm::setLabelWidth(int pixels)
{
    m_form->labelForField(m_source)->setMinimumWidth(pixels);
}

void LiveSideForm::browse(QLineEdit* edit, const QString& title, const QString& filter)
{
    const QString file = QFileDialog::getOpenFileName(this, title, edit->text(),
                                                      filter + QStringLiteral(";;All files (*)"));
    if (!file.isEmpty())
        edit->setText(file);
}

DaemonAddress LiveSideForm::daemon() const
{
    return {m_address->text().trimmed(), m_key->text().trimmed(), m_serverKey->text().trimmed(),
            m_insecure->isChecked()};
}

void LiveSideForm::connectNow()
{
    if (daemon() != m_link.address())
        m_link.connectTo(daemon());
}

void LiveSideForm::showSource()
{
    const bool isFile = m_source->currentIndex() == fileSource;
    const auto show = [this](QWidget* field, bool visible) {
        QWidget* row = m_form->indexOf(field) >= 0 ? field : field->parentWidget();
        row->setVisible(visible);
        if (QWidget* label = m_form->labelForField(row))
            label->setVisible(visible);
    };
    show(m_file, isFile);
    for (QWidget* field : std::initializer_list<QWidget*>{m_address, m_state, m_model, m_policy,
                                                          m_arithmetic, m_options})
        show(field, !isFile);
    for (QWidget* field : std::initializer_list<QWidget*>{m_key, m_serverKey, m_insecure})
        show(field, !isFile && m_keys->isChecked());
    m_estimate->clear();
    Q_EMIT changed();
}

void LiveSideForm::showLink()
{
    const DaemonLink::State state = m_link.state();
    const bool good = state == DaemonLink::State::Connected;
    const bool bad = state == DaemonLink::State::Refused || state == DaemonLink::State::Lost;
    const QString mark = good  ? QStringLiteral("● ")
                         : bad ? QStringLiteral("▲ ")
                               : QStringLiteral("○ ");
    QString text = mark + m_link.sentence();
    if (const auto pinned = wire::readPublicKey(m_link.address().serverKey.toStdString());
        !m_link.address().serverKey.isEmpty() && pinned)
        text += QStringLiteral("\nfingerprint of its key: %1")
                    .arg(QString::fromStdString(wire::fingerprintOf(*pinned)));
    m_state->setText(text);
    const Theme& theme = m_look.theme();
    m_state->setStyleSheet(
        QStringLiteral("color: %1").arg((bad ? theme.differInk : theme.dim).name()));
    Q_EMIT changed();
}

void LiveSideForm::fillModels()
{
    const QString wanted =
        m_model->currentText().isEmpty() ? m_wantedModel : m_model->currentText();
    m_model->clear();
    for (const wire::ModelEntry& entry : m_link.models()) {
        if (!entry.problem.empty())
            continue;
        m_model->addItem(QString::fromStdString(base::visibleText(entry.name)),
                         QString::fromStdString(entry.name));
        m_model->setItemData(m_model->count() - 1,
                             QString::fromStdString(base::visibleText(entry.architecture)),
                             Qt::ToolTipRole);
    }
    if (const int place = m_model->findText(wanted); place >= 0)
        m_model->setCurrentIndex(place);
    Q_EMIT changed();
}

void LiveSideForm::setSide(const SidePlan& side)
{
    m_wantedModel = side.model;
    m_file->setText(side.file);
    m_address->setText(side.daemon.address);
    m_key->setText(side.daemon.key);
    m_serverKey->setText(side.daemon.serverKey);
    m_insecure->setChecked(side.daemon.insecure);
    m_keys->setChecked(!side.daemon.key.isEmpty() || side.daemon.insecure);
    m_policy->setCurrentText(side.policy);
    m_arithmetic->setCurrentText(side.arithmetic);
    m_options->setText(side.options);
    m_source->setCurrentIndex(side.isFile ? fileSource : daemonSource);
    if (!side.isFile)
        connectNow();
}

SidePlan LiveSideForm::side() const
{
    SidePlan side;
    side.isFile = m_source->currentIndex() == fileSource;
    side.file = m_file->text().trimmed();
    side.daemon = daemon();
    side.model = m_model->currentData().toString();
    side.policy = m_policy->currentText().trimmed();
    side.arithmetic = m_arithmetic->currentText().trimmed();
    side.options = m_options->text().trimmed();
    return side;
}

bool LiveSideForm::isReady() const
{
    if (m_source->currentIndex() == fileSource)
        return !m_file->text().trimmed().isEmpty();
    return m_link.state() == DaemonLink::State::Connected && m_model->count() > 0;
}

void LiveSideForm::showEstimate(const QString& text, bool trouble)
{
    const Theme& theme = m_look.theme();
    m_estimate->setText(text);
    m_estimate->setStyleSheet(
        QStringLiteral("color: %1").arg((trouble ? theme.differInk : theme.dim).name()));
}

} // namespace moire::widgets
