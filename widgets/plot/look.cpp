// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/plot/look.h"

#include "core/report/palette.h"

#include <QFile>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QIcon>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPainter>
#include <QPalette>
#include <QPixmap>
#include <QSvgRenderer>

#include <algorithm>
#include <cmath>

// Resources of a static library are linked only when asked for, from outside any namespace.
static void initResources()
{
    Q_INIT_RESOURCE(look);
}

namespace moire::widgets {

namespace {

constexpr int smallPixels = 12;
constexpr int basePixels = 13;
constexpr int verdictPixels = 16;
constexpr int valuePixels = 17;

/// The first of `wanted` that is installed, else the fallback.
QString installedFamily(const QStringList& wanted, const QString& fallback)
{
    const QStringList families = QFontDatabase::families();
    for (const QString& family : wanted)
        if (families.contains(family))
            return family;
    return fallback;
}

QColor colourOf(const report::Rgb& rgb)
{
    return {rgb.red, rgb.green, rgb.blue};
}

QByteArray resource(const QString& path)
{
    initResources();
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

Theme Theme::load(ThemeKind kind)
{
    const QString path = kind == ThemeKind::Light ? QStringLiteral(":/palettes/light.json")
                                                  : QStringLiteral(":/palettes/dark.json");
    const QJsonObject json = QJsonDocument::fromJson(resource(path)).object();
    const auto colour = [&json](const char* name) {
        return QColor(json.value(QLatin1String(name)).toString());
    };
    Theme theme;
    theme.kind = kind;
    theme.ground = colour("ground");
    theme.panel = colour("panel");
    theme.line = colour("line");
    theme.ink = colour("ink");
    theme.dim = colour("dim");
    theme.faint = colour("faint");
    theme.reference = colour("reference");
    theme.target = colour("target");
    theme.differInk = colour("differInk");
    theme.differGround = colour("differGround");
    theme.chip = colour("chip");
    theme.hatch = colour("hatch");
    theme.selection = colour("selection");
    const report::MapColours& map =
        report::mapColours(kind == ThemeKind::Light ? report::Theme::Light : report::Theme::Dark);
    theme.equal = colourOf(map.equal);
    theme.unsized = colourOf(map.unmeasured);
    std::transform(map.scale.begin(), map.scale.end(), theme.scale.begin(), colourOf);
    return theme;
}

Look::Look(ThemeKind kind, QObject* parent)
    : QObject(parent)
    , m_theme(Theme::load(kind))
{
    const QFont desktop = QGuiApplication::font();
    // Without a desktop the default font is whatever comes first, often one without letters.
    const bool hasDesktop = QGuiApplication::platformName() != QLatin1String("offscreen");
    m_family = hasDesktop ? desktop.family()
                          : installedFamily({QStringLiteral("Inter"), QStringLiteral("Noto Sans"),
                                             QStringLiteral("DejaVu Sans")},
                                            desktop.family());
    m_monoFamily =
        installedFamily({QStringLiteral("JetBrains Mono"), QStringLiteral("DejaVu Sans Mono"),
                         QStringLiteral("Noto Sans Mono")},
                        QFontDatabase::systemFont(QFontDatabase::FixedFont).family());
}

void Look::setTheme(ThemeKind kind)
{
    if (kind == m_theme.kind)
        return;
    m_theme = Theme::load(kind);
    Q_EMIT changed();
}

QFont Look::font(TextRole role) const
{
    const bool mono = role == TextRole::Mono || role == TextRole::MonoSmall;
    QFont font(mono ? m_monoFamily : m_family);
    font.setStyleHint(mono ? QFont::Monospace : QFont::SansSerif);
    font.setHintingPreference(QFont::PreferVerticalHinting);
    switch (role) {
    case TextRole::Small:
    case TextRole::MonoSmall:
        font.setPixelSize(smallPixels);
        break;
    case TextRole::Base:
    case TextRole::Mono:
        font.setPixelSize(basePixels);
        break;
    case TextRole::BaseStrong:
        font.setPixelSize(basePixels);
        font.setWeight(QFont::DemiBold);
        break;
    case TextRole::Verdict:
        font.setPixelSize(verdictPixels);
        break;
    case TextRole::Value:
        font.setPixelSize(valuePixels);
        font.setWeight(QFont::DemiBold);
        break;
    }
    return font;
}

QString Look::styleSheet() const
{
    QString sheet = QString::fromUtf8(resource(QStringLiteral(":/palettes/window.qss")));
    const auto put = [&sheet](const char* name, const QColor& colour) {
        sheet.replace(QLatin1String("@") + QLatin1String(name) + QLatin1String("@"), colour.name());
    };
    put("ground", m_theme.ground);
    put("panel", m_theme.panel);
    put("line", m_theme.line);
    put("ink", m_theme.ink);
    put("dim", m_theme.dim);
    put("faint", m_theme.faint);
    put("accent", m_theme.reference);
    put("onAccent", m_theme.kind == ThemeKind::Light ? QColor(Qt::white) : m_theme.ground);
    put("chip", m_theme.chip);
    put("differInk", m_theme.differInk);
    put("differGround", m_theme.differGround);
    put("selection", m_theme.selection);
    sheet.replace(QLatin1String("@kind@"), m_theme.kind == ThemeKind::Light
                                               ? QLatin1String("light")
                                               : QLatin1String("dark"));
    return sheet;
}

QIcon Look::icon(const QString& name) const
{
    return icon(name, m_theme.ink);
}

QIcon Look::icon(const QString& name, const QColor& colour) const
{
    const QByteArray drawing = resource(QStringLiteral(":/icons/%1.svg").arg(name));
    QIcon icon;
    const auto add = [&icon, &drawing](const QColor& tint, QIcon::Mode mode, int edge) {
        QByteArray svg = drawing;
        svg.replace("currentColor", tint.name().toLatin1());
        QSvgRenderer renderer(svg);
        QPixmap pixmap(edge, edge);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        // Half a line of text lies a little below the middle of its box: icons follow it.
        painter.translate(0, edge / 16.0);
        renderer.render(&painter);
        painter.end();
        icon.addPixmap(pixmap, mode);
    };
    for (const int edge : {16, 32, 48, 96}) {
        add(colour, QIcon::Normal, edge);
        add(m_theme.faint, QIcon::Disabled, edge);
    }
    return icon;
}

ThemeKind Look::desktopTheme()
{
    const QPalette palette = QGuiApplication::palette();
    const bool dark = palette.color(QPalette::WindowText).lightness()
                      > palette.color(QPalette::Window).lightness();
    return dark ? ThemeKind::Dark : ThemeKind::Light;
}

QColor blended(const QColor& colour, const QColor& ground, double opacity)
{
    const auto mix = [opacity](int over, int under) {
        return static_cast<int>(std::lround(over * opacity + under * (1.0 - opacity)));
    };
    return QColor(mix(colour.red(), ground.red()), mix(colour.green(), ground.green()),
                  mix(colour.blue(), ground.blue()));
}

} // namespace moire::widgets
