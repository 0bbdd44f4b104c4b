// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QString>

#include <array>

class QIcon;

namespace moire::widgets {

enum class ThemeKind
{
    Light,
    Dark
};

/// The colours of one theme (resources/palettes, core/report/palette.h).
struct Theme
{
    ThemeKind kind = ThemeKind::Light;
    QColor ground, panel, line;
    QColor ink, dim, faint;
    QColor reference, target;
    QColor differInk, differGround; ///< a field in which the two runs differ
    QColor chip, hatch, selection;
    // Of maps, as the report has them (core/report/palette.h).
    QColor equal;
    QColor unsized;              ///< bits differ, by how much is not known
    std::array<QColor, 6> scale; ///< small to large differences

    static Theme load(ThemeKind kind);
};

enum class TextRole
{
    Small,
    Base,
    BaseStrong,
    Verdict,
    Value, ///< the number of a family chip
    Mono,
    MonoSmall,
};

/// What all views of a window share to look alike: theme, fonts, spacing. GUI thread; owned by the
/// window.
class Look : public QObject
{
    Q_OBJECT
public:
    explicit Look(ThemeKind kind, QObject* parent = nullptr);

    const Theme& theme() const { return m_theme; }
    void setTheme(ThemeKind kind);
    QFont font(TextRole role) const;
    /// The style sheet for the plain widgets (buttons, menus, tabs, scroll bars, tables).
    QString styleSheet() const;
    /// An icon of resources/icons in the theme's ink.
    QIcon icon(const QString& name) const;
    QIcon icon(const QString& name, const QColor& colour) const;

    /// The desktop's own choice; light where it has none.
    static ThemeKind desktopTheme();

    static constexpr int step = 4;   ///< all distances are multiples of it
    static constexpr int gap = 8;    ///< between panels
    static constexpr int corner = 6; ///< radius of panels
    static constexpr int inset = 12; ///< from a panel's edge to its content

Q_SIGNALS:
    void changed();

private:
    Theme m_theme;
    QString m_family;
    QString m_monoFamily;
};

/// `colour` laid over `ground` with an opacity from 0 to 1.
QColor blended(const QColor& colour, const QColor& ground, double opacity);

} // namespace moire::widgets
