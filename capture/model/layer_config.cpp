// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/layer_config.h"

#include "capture/model/plan_check.h"

#include <algorithm>

namespace moire::capture {

namespace {

using nlohmann::json;

constexpr std::string_view windowKey = "sliding_window";
constexpr std::string_view typesKey = "layer_types";

/// The window of the layers that have one; 0 when none has.
std::uint32_t readWindow(const Family& family, JsonFields& fields)
{
    switch (family.window) {
    case WindowRule::None:
        return 0;
    case WindowRule::WhereNumber:
        if (!fields.names(windowKey)) // absent, which null is not
            return family.windowWidth;
        return fields.countOr(windowKey, 0, 1, maxContext);
    default:
        // Files on the hub carry a number here that use_sliding_window switches off.
        return fields.flagOr("use_sliding_window", false) ? fields.count(windowKey, 1, maxContext)
                                                          : 0;
    }
}

bool hasWindow(WindowRule rule, std::size_t layer, std::uint32_t most)
{
    switch (rule) {
    case WindowRule::None:
        return false;
    case WindowRule::WhereNumber:
    case WindowRule::AllIfUsed:
        return true;
    case WindowRule::FromLayer:
        return layer >= most;
    case WindowRule::EvenBelow:
        return layer % 2 == 0 && layer < most;
    }
    return false;
}

/// Windows by name, one a layer.
void readTypes(ModelPlan& plan, const json& types, std::uint32_t window, JsonFields& fields)
{
    if (!types.is_array() || types.size() != plan.layers.size()) {
        fields.failType(typesKey, types,
                        "a list of " + std::to_string(plan.layers.size()) + " names");
        return;
    }
    for (std::size_t layer = 0; layer < types.size(); ++layer) {
        if (types[layer] == "sliding_attention")
            plan.layers[layer].window = window;
        else if (types[layer] != "full_attention")
            fields.fail(Errc::Unsupported,
                        std::string(typesKey) + " names " + types[layer].dump() + " for layer "
                            + std::to_string(layer),
                        "Supported: full_attention, sliding_attention");
    }
}

void readWindows(ModelPlan& plan, const Family& family, JsonFields& fields)
{
    const std::uint32_t window = readWindow(family, fields);
    const bool byLayer =
        family.window == WindowRule::FromLayer || family.window == WindowRule::EvenBelow;
    const json* types = fields.find(typesKey);
    if (byLayer && types != nullptr) {
        readTypes(plan, *types, window, fields);
        return;
    }
    const std::uint32_t most =
        byLayer && window > 0 ? fields.count("max_window_layers", 0, maxLayers) : 0;
    for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
        plan.layers[layer].window = hasWindow(family.window, layer, most) ? window : 0;
}

/// Layers that are dense in a model of sparse ones.
std::vector<std::uint32_t> readDenseLayers(JsonFields& fields)
{
    constexpr std::string_view key = "mlp_only_layers";
    std::vector<std::uint32_t> layers;
    const json* list = fields.find(key);
    if (list == nullptr)
        return layers;
    const bool sound =
        list->is_array() && std::all_of(list->begin(), list->end(), [](const json& n) {
            return n.is_number_unsigned() && n.get<std::uint64_t>() < maxLayers;
        });
    if (!sound) {
        fields.failType(key, *list, "a list of layers");
        return layers;
    }
    for (const json& layer : *list)
        layers.push_back(layer.get<std::uint32_t>());
    return layers;
}

void readSparse(ModelPlan& plan, const Family& family, JsonFields& fields)
{
    if (family.sparse == SparseRule::Never)
        return;
    std::uint32_t step = 1;
    std::vector<std::uint32_t> dense;
    if (family.sparse == SparseRule::Steps) {
        step = fields.countOr("decoder_sparse_step", 1, 1, maxLayers);
        dense = readDenseLayers(fields);
    }
    for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
        plan.layers[layer].sparse =
            (layer + 1) % step == 0 && std::find(dense.begin(), dense.end(), layer) == dense.end();
}

} // namespace

void readLayers(ModelPlan& plan, const Family& family, JsonFields& fields)
{
    plan.layers.assign(fields.count(family.keys.layers, 1, maxLayers), LayerPlan{});
    readSparse(plan, family, fields);
    readWindows(plan, family, fields);
}

} // namespace moire::capture
