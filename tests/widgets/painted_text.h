// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QFontMetricsF>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QWidget>

#include <vector>

/// The words that a widget paints and where, so that tests can see what eyes see: whether a number
/// was cut off, and whether one stands over another.
namespace moire::test {

struct PaintedText
{
    QString text;
    QRectF box; ///< from the baseline up to the height of capitals
};

class TextEngine : public QPaintEngine
{
public:
    TextEngine()
        : QPaintEngine(AllFeatures)
    {}

    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    Type type() const override { return User; }
    void updateState(const QPaintEngineState& now) override
    {
        if (now.state().testFlag(DirtyTransform))
            m_transform = now.transform();
    }
    void drawTextItem(const QPointF& at, const QTextItem& item) override
    {
        const qreal high = QFontMetricsF(item.font()).capHeight();
        const QPointF corner = m_transform.map(at) - QPointF(0, high);
        texts.push_back({item.text(), QRectF(corner, QSizeF(item.width(), high))});
    }
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawPath(const QPainterPath&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}

    std::vector<PaintedText> texts;

private:
    QTransform m_transform;
};

class TextDevice : public QPaintDevice
{
public:
    explicit TextDevice(QSize size)
        : m_size(size)
    {}
    QPaintEngine* paintEngine() const override { return &m_engine; }
    const std::vector<PaintedText>& texts() const { return m_engine.texts; }

protected:
    int metric(PaintDeviceMetric which) const override
    {
        constexpr int dotsPerInch = 96;
        switch (which) {
        case PdmWidth:
            return m_size.width();
        case PdmHeight:
            return m_size.height();
        case PdmDepth:
            return 32;
        case PdmDpiX:
        case PdmDpiY:
        case PdmPhysicalDpiX:
        case PdmPhysicalDpiY:
            return dotsPerInch;
        case PdmDevicePixelRatio:
            return 1;
        case PdmDevicePixelRatioScaled:
            return static_cast<int>(devicePixelRatioFScale());
        default:
            return 1;
        }
    }

private:
    QSize m_size;
    mutable TextEngine m_engine;
};

inline std::vector<PaintedText> paintedTexts(QWidget& widget)
{
    TextDevice device(widget.size());
    widget.render(&device);
    return device.texts();
}

inline bool hasDigit(const QString& text)
{
    for (const QChar letter : text)
        if (letter.isDigit())
            return true;
    return false;
}

/// What is wrong with the numbers that a widget paints; empty when each is whole, inside the widget
/// and clear of all other text.
inline QString faultOfNumbers(QWidget& widget)
{
    const auto texts = paintedTexts(widget);
    const QRectF inside = QRectF(widget.rect()).adjusted(-0.5, -0.5, 0.5, 0.5);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (!hasDigit(texts[i].text))
            continue;
        if (texts[i].text.contains(QStringLiteral("…")) && texts[i].text.size() > 4)
            return QStringLiteral("'%1' is elided").arg(texts[i].text);
        if (!inside.contains(texts[i].box))
            return QStringLiteral("'%1' is cut off").arg(texts[i].text);
        for (std::size_t j = 0; j < texts.size(); ++j)
            if (j != i && texts[j].box.adjusted(0.5, 0, -0.5, 0).intersects(texts[i].box))
                return QStringLiteral("'%1' stands over '%2'").arg(texts[i].text, texts[j].text);
    }
    return {};
}

} // namespace moire::test
