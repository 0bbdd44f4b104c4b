// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/window_actions.h"

#include "core/diff/shipped_profiles.h"

#include <QActionGroup>
#include <QComboBox>
#include <QLabel>
#include <QMainWindow>
#include <QMenuBar>
#include <QStandardItemModel>
#include <QToolBar>
#include <QToolButton>

#include <algorithm>
#include <array>

namespace moire::gui {

using widgets::allCriteria;
using widgets::allHeatMeasures;
using widgets::Criterion;
using widgets::HeatMeasure;
using widgets::Look;

namespace {

struct Description
{
    Command command;
    const char* menu;
    const char* text;
    const char* keys; ///< separated by "; "
    const char* tip;
    const char* icon;
    bool needsRuns;
};

constexpr std::array descriptions{
    Description{Command::Open, "&File", "&Open…", "Ctrl+O", "Open two captures", "open", false},
    Description{Command::Live, "&File", "Capture &live…", "Ctrl+Shift+O",
                "Compare runs of two daemons while they are made", "", false},
    Description{Command::Recent, "&File", "Open &recent", "", "Captures compared before", "",
                false},
    Description{Command::Reload, "&File", "&Reload", "F5", "Read both files again", "", true},
    Description{Command::ExportHtml, "&File", "&Export report…", "Ctrl+E",
                "Write the report as a web page, JSON, CSV, Markdown, JUnit or text", "export",
                true},
    Description{Command::ExportPicture, "&File", "Export &picture of the window…", "Ctrl+Shift+E",
                "Write the window as PNG, PDF or SVG", "", true},
    Description{Command::ExportHeatMap, "&File", "Export picture of the &heat map…", "",
                "Write strips and heat map as PNG, PDF or SVG", "", true},
    Description{Command::Quit, "&File", "&Quit", "Ctrl+Q", "Close the window", "", false},
    Description{Command::Next, "&Go", "&Next divergence", "N; Alt+Down; F8",
                "Next divergence by the chosen criterion", "next", true},
    Description{Command::Previous, "&Go", "&Previous divergence", "P; Alt+Up; Shift+F8",
                "Previous divergence by the chosen criterion", "previous", true},
    Description{Command::First, "&Go", "&First divergence", "Alt+Home",
                "First divergence by the chosen criterion", "first", true},
    Description{Command::Last, "&Go", "&Last divergence", "Alt+End",
                "Last divergence by the chosen criterion", "last", true},
    Description{Command::FirstBeyond, "&Go", "First beyond the &tolerance", "T",
                "First divergence beyond the tolerance that Compare, Judge by names", "", true},
    Description{Command::GoTo, "&Go", "&Go to site…", "Ctrl+G",
                "Go to a sample, token and tap by name", "", true},
    Description{Command::Recentre, "&Go", "Show the &cursor", "Ctrl+Space",
                "Bring the cursor's cell into view", "", true},
    Description{Command::ZoomFit, "&View", "&Fit the heat map", "Ctrl+0", "Show the whole heat map",
                "", true},
    Description{Command::ZoomIn, "&View", "Zoom &in", "Ctrl++; Ctrl+=", "Enlarge the heat map", "",
                true},
    Description{Command::ZoomOut, "&View", "Zoom &out", "Ctrl+-", "Shrink the heat map", "", true},
    Description{Command::NextTab, "&View", "Next &tab", "Ctrl+Tab",
                "Logits, Top-K, Routing, Live in turn", "", true},
    Description{Command::Overview, "&View", "&Overview of all tokens", "F9",
                "The line of all samples' tokens above the strips", "", false},
    Description{Command::ShowDifference, "&View", "&Difference", "1",
                "The heat map shows how the runs differ", "", true},
    Description{Command::ShowReference, "&View", "&Reference", "2",
                "The heat map shows the reference's own values", "", true},
    Description{Command::ShowTarget, "&View", "T&arget", "3",
                "The heat map shows the target's own values", "", true},
    Description{Command::Blink, "&View", "&Blink: the other run while B is held", "",
                "Shows the other run's values for a moment", "", true},
    Description{Command::Lock, "&View", "Loc&k the site", "L",
                "The panel at the right keeps its site while the cursor goes elsewhere", "unlock",
                true},
    Description{Command::ThemeLight, "&View", "&Light theme", "", "Light colours", "", false},
    Description{Command::ThemeDark, "&View", "&Dark theme", "", "Dark colours", "", false},
    Description{Command::ThemeDesktop, "&View", "Theme of the d&esktop", "",
                "Colours as the desktop has them", "", false},
    Description{Command::Swap, "&Compare", "&Swap reference and target", "Alt+\\",
                "The target becomes the reference", "swap", true},
    Description{Command::Judge, "&Compare", "&Judge by", "",
                "What counts as a divergence: bits, or a tolerance profile", "", true},
    Description{Command::Environment, "&Compare", "&Environment of both runs…", "Ctrl+I",
                "What the runs were made with, differences marked", "", true},
    Description{Command::CopyLink, "&Compare", "&Copy link to this site", "Ctrl+L",
                "A moire:// link that opens these files here", "copy", true},
    Description{Command::Keys, "&Help", "&Keys…", "F1", "All keys", "", false},
    Description{Command::About, "&Help", "&About Moire…", "", "Version and licence", "", false},
};

constexpr const char* criterionTip = "What counts as a divergence when stepping";
constexpr const char* measureTip = "What the strips and the heat map are coloured by";

bool beginsGroup(Command command)
{
    return command == Command::Reload || command == Command::ExportHtml || command == Command::Quit
           || command == Command::GoTo || command == Command::NextTab
           || command == Command::ShowDifference || command == Command::Blink
           || command == Command::ThemeLight || command == Command::CopyLink;
}

template <class Values>
QComboBox* makeChooser(const Values& values, const char* tip)
{
    auto* box = new QComboBox;
    for (const auto value : values)
        box->addItem(nameOf(value));
    box->setToolTip(QString::fromUtf8(tip));
    box->setFocusPolicy(Qt::TabFocus);
    return box;
}

} // namespace

WindowActions::WindowActions(QMainWindow& window, const Look& look)
    : QObject(&window)
    , m_look(look)
    , m_measure(makeChooser(allHeatMeasures, measureTip))
    , m_criterion(makeChooser(allCriteria, criterionTip))
{
    m_measure->setAccessibleName(QStringLiteral("Colour by"));
    m_criterion->setAccessibleName(QStringLiteral("Criterion"));
    makeMenus(window);
    makeCheckable();
    fillProfiles();
    makeToolBar(window);
    connect(m_measure, &QComboBox::currentIndexChanged, this, [this](int index) {
        Q_EMIT measureChosen(allHeatMeasures[static_cast<std::size_t>(index)]);
    });
    connect(m_criterion, &QComboBox::currentIndexChanged, this, [this](int index) {
        Q_EMIT criterionChosen(allCriteria[static_cast<std::size_t>(index)]);
    });
    connect(&look, &Look::changed, this, &WindowActions::restyle);
    restyle();
    setComparing(false);
    setTolerance({});
}

void WindowActions::makeMenus(QMainWindow& window)
{
    std::map<QString, QMenu*> menus;
    for (const Description& description : descriptions) {
        const QString title = QString::fromUtf8(description.menu);
        QMenu*& menu = menus[title];
        if (menu == nullptr)
            menu = window.menuBar()->addMenu(title);
        if (beginsGroup(description.command))
            menu->addSeparator();
        if (description.command == Command::Recent || description.command == Command::Judge) {
            QMenu* submenu = menu->addMenu(QString::fromUtf8(description.text));
            (description.command == Command::Recent ? m_recent : m_judge) = submenu;
            m_actions[description.command] = submenu->menuAction();
            continue;
        }
        auto* action = menu->addAction(QString::fromUtf8(description.text));
        QList<QKeySequence> keys;
        for (const QString& key :
             QString::fromLatin1(description.keys).split(QStringLiteral("; "), Qt::SkipEmptyParts))
            keys.append(QKeySequence(key));
        action->setShortcuts(keys);
        QString tip = QString::fromUtf8(description.tip);
        if (!keys.isEmpty())
            tip += QStringLiteral(" (%1)").arg(keys.first().toString(QKeySequence::NativeText));
        action->setToolTip(tip);
        action->setStatusTip(QString::fromUtf8(description.tip));
        action->setIconText(action->text().remove('&'));
        m_actions[description.command] = action;
        m_order.append(action);
    }
}

void WindowActions::makeCheckable()
{
    const auto choice = [this](std::initializer_list<Command> commands) {
        auto* group = new QActionGroup(this);
        for (const Command command : commands) {
            at(command)->setCheckable(true);
            group->addAction(at(command));
        }
    };
    choice({Command::ThemeLight, Command::ThemeDark, Command::ThemeDesktop});
    choice({Command::ShowDifference, Command::ShowReference, Command::ShowTarget});
    at(Command::ShowDifference)->setChecked(true);
    for (const Command command : {Command::Overview, Command::Lock})
        at(command)->setCheckable(true);
    at(Command::Overview)->setChecked(true);
    connect(at(Command::Lock), &QAction::toggled, this, &WindowActions::restyle);
}

void WindowActions::fillProfiles()
{
    m_profiles = new QActionGroup(this);
    const auto add = [this](const QString& text, const QString& profile) {
        QAction* action = m_judge->addAction(text);
        action->setCheckable(true);
        action->setData(profile);
        m_profiles->addAction(action);
        return action;
    };
    connect(add(QStringLiteral("&Bits alone"), {}), &QAction::triggered, this,
            [this] { Q_EMIT profileChosen({}); });
    m_judge->addSeparator();
    for (const diff::ShippedProfile& shipped : diff::shippedProfiles()) {
        const QString name =
            QString::fromUtf8(shipped.name.data(), static_cast<qsizetype>(shipped.name.size()));
        connect(add(name, name), &QAction::triggered, this,
                [this, name] { Q_EMIT profileChosen(name); });
    }
    m_judge->addSeparator();
    m_profileFile = add(QStringLiteral("Profile in a &file…"), QStringLiteral("/"));
    connect(m_profileFile, &QAction::triggered, this, &WindowActions::profileFileWanted);
    m_criteria = add({}, QStringLiteral("?"));
    m_criteria->setVisible(false);
    showProfile({});
}

void WindowActions::showCriteria(const QString& criteria)
{
    m_criteria->setVisible(!criteria.isEmpty());
    m_criteria->setText(criteria);
    if (!criteria.isEmpty())
        m_criteria->setChecked(true);
}

void WindowActions::setTolerance(const QString& name)
{
    const auto at = std::find(allCriteria.begin(), allCriteria.end(), Criterion::Tolerance);
    const auto place = static_cast<int>(at - allCriteria.begin());
    auto* items = qobject_cast<QStandardItemModel*>(m_criterion->model());
    items->item(place)->setEnabled(!name.isEmpty());
    m_criterion->setToolTip(
        QString::fromUtf8(criterionTip)
        + (name.isEmpty() ? QString() : QStringLiteral("; tolerance: %1").arg(name)));
    const bool chosen = m_criterion->currentIndex() == place;
    if (!name.isEmpty() && name != m_tolerance)
        m_criterion->setCurrentIndex(place);
    else if (name.isEmpty() && chosen)
        m_criterion->setCurrentIndex(0); // bits
    m_tolerance = name;
}

void WindowActions::showProfile(const QString& profile)
{
    const QList<QAction*> all = m_profiles->actions();
    const auto found = std::find_if(all.begin(), all.end(), [&profile](const QAction* action) {
        return action->data().toString() == profile;
    });
    (found == all.end() ? m_profileFile : *found)->setChecked(true);
}

QList<QAction*> WindowActions::shownActions() const
{
    return {at(Command::ShowDifference), at(Command::ShowReference), at(Command::ShowTarget)};
}

void WindowActions::makeToolBar(QMainWindow& window)
{
    auto* bar = window.addToolBar(QStringLiteral("Main"));
    bar->setObjectName(QStringLiteral("mainToolBar"));
    constexpr int iconEdge = 16;
    bar->setIconSize({iconEdge, iconEdge});
    bar->setMovable(false);
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    const auto button = [this, bar](Command command, Qt::ToolButtonStyle style, const char* name) {
        bar->addAction(at(command));
        auto* tool = qobject_cast<QToolButton*>(bar->widgetForAction(at(command)));
        tool->setToolButtonStyle(style);
        tool->setAccessibleName(at(command)->iconText());
        if (name != nullptr)
            tool->setObjectName(QString::fromLatin1(name));
    };
    const auto label = [bar](const char* text) {
        bar->addWidget(new QLabel(QString::fromUtf8(text)));
    };
    button(Command::Open, Qt::ToolButtonTextBesideIcon, nullptr);
    bar->addSeparator();
    button(Command::First, Qt::ToolButtonIconOnly, nullptr);
    button(Command::Previous, Qt::ToolButtonTextBesideIcon, nullptr);
    button(Command::Next, Qt::ToolButtonTextBesideIcon, "primary");
    button(Command::Last, Qt::ToolButtonIconOnly, nullptr);
    at(Command::Previous)->setIconText(QStringLiteral("Previous"));
    at(Command::ExportHtml)->setIconText(QStringLiteral("Export…"));
    bar->addSeparator();
    label("Colour by");
    bar->addWidget(m_measure);
    label("Criterion");
    bar->addWidget(m_criterion);
    auto* space = new QWidget;
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(space);
    button(Command::ExportHtml, Qt::ToolButtonTextBesideIcon, nullptr);
}

QList<QAction*> WindowActions::all() const
{
    return m_order;
}

void WindowActions::setComparing(bool comparing)
{
    for (const Description& description : descriptions)
        if (description.needsRuns)
            at(description.command)->setEnabled(comparing);
    at(Command::FirstBeyond)->setEnabled(false); // until it is known
    m_measure->setEnabled(comparing);
    m_criterion->setEnabled(comparing);
}

void WindowActions::setSteppable(bool steppable)
{
    for (const Command command : {Command::First, Command::Previous, Command::Next, Command::Last})
        at(command)->setEnabled(steppable);
}

void WindowActions::setSized(bool sized)
{
    m_measure->setEnabled(sized);
    m_measure->setToolTip(sized ? QString::fromUtf8(measureTip)
                                : QStringLiteral("Values were not recorded in both runs: bits are "
                                                 "equal or not"));
}

void WindowActions::restyle()
{
    const QColor onAccent = m_look.theme().kind == widgets::ThemeKind::Light
                                ? QColor(Qt::white)
                                : m_look.theme().ground;
    for (const Description& description : descriptions)
        if (description.icon[0] != 0)
            at(description.command)
                ->setIcon(m_look.icon(QString::fromLatin1(description.icon),
                                      description.command == Command::Next ? onAccent
                                                                           : m_look.theme().ink));
    if (at(Command::Lock)->isChecked())
        at(Command::Lock)->setIcon(m_look.icon(QStringLiteral("lock"), m_look.theme().differInk));
    const QFont font = m_look.font(widgets::TextRole::Base);
    m_measure->setFont(font);
    m_criterion->setFont(font);
}

} // namespace moire::gui
