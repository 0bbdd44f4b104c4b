// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0
//
// Shows a checkpoint to the Python tests:
//   capture_checkpoint_dump plan|list|digest PATH
//   capture_checkpoint_dump tensors PATH FOLDER    (the bytes of tensor i of `list` into FOLDER/i)
//   capture_checkpoint_dump weights PATH FOLDER    (the same without a plan: safetensors only)
//   capture_checkpoint_dump ids PATH TEXT          (by the tokenizer)
// Trouble goes to stderr as one line, with exit status 2.

#include "capture/model/aligned_bytes.h"
#include "capture/model/checkpoint.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <iostream>

using namespace moire;
using namespace moire::capture;
using nlohmann::json;

namespace {

int fail(const Error& error)
{
    std::cerr << error.text() << '\n';
    return 2;
}

json planJson(const ModelPlan& plan)
{
    json object{{"name", plan.name},
                {"architecture", plan.architecture},
                {"hidden", plan.hidden},
                {"heads", plan.heads},
                {"kv_heads", plan.kvHeads},
                {"head_dim", plan.headDim},
                {"mlp_width", plan.mlpWidth},
                {"vocabulary", plan.vocabulary},
                {"context", plan.context},
                {"layers", plan.layers.size()},
                {"dtype", numeric::nameOf(plan.dtype)},
                {"norm_eps", plan.normEps},
                {"norm", static_cast<int>(plan.norm)},
                {"norm_place", static_cast<int>(plan.normPlace)},
                {"qk_norm", static_cast<int>(plan.qkNorm)},
                {"rope", static_cast<int>(plan.rope.kind)},
                {"theta", plan.rope.theta},
                {"scaling", static_cast<int>(plan.rope.scaling)},
                {"qkv_bias", plan.qkvBias},
                {"out_bias", plan.outBias},
                {"mlp_bias", plan.mlpBias},
                {"tied", plan.tiedHead},
                {"end_tokens", plan.endTokens}};
    if (plan.rope.scaling == RopeScaling::Llama3)
        object["llama3"] = {plan.rope.factor, plan.rope.lowFrequencyFactor,
                            plan.rope.highFrequencyFactor, plan.rope.originalContext};
    if (plan.rope.scaling == RopeScaling::Yarn || plan.rope.scaling == RopeScaling::Linear)
        object["scaled"] = {plan.rope.factor, plan.rope.originalContext, plan.rope.attentionFactor};
    if (plan.clipQkv)
        object["clip"] = *plan.clipQkv;
    if (plan.moe)
        object["moe"] = {{"experts", plan.moe->experts},
                         {"chosen", plan.moe->chosen},
                         {"width", plan.moe->expertWidth},
                         {"shared", plan.moe->sharedWidth},
                         {"normalise", plan.moe->normaliseWeights}};
    return object;
}

int list(const Weights& weights)
{
    json entries = json::array();
    for (const Weights::Entry& entry : weights.entries())
        entries.push_back({entry.name, numeric::nameOf(entry.dtype), entry.shape});
    std::cout << entries.dump() << '\n';
    return 0;
}

int writeTensors(const Weights& weights, const std::filesystem::path& folder)
{
    std::size_t i = 0;
    for (const Weights::Entry& entry : weights.entries()) {
        const auto weight = weights.load(entry.name);
        if (!weight)
            return fail(weight.error());
        if (!isAligned(weight->bytes.data()) || weight->shape != entry.shape
            || weight->dtype != entry.dtype)
            return fail({Errc::Internal, "is not what its entry says", entry.name, {}});
        std::ofstream out(folder / std::to_string(i++), std::ios::binary);
        out.write(reinterpret_cast<const char*>(weight->bytes.data()),
                  static_cast<std::streamsize>(weight->bytes.size()));
        if (!out)
            return fail({Errc::Io, "cannot write", folder.string(), {}});
    }
    return list(weights);
}

int showTokens(const Checkpoint& checkpoint, const std::string& text)
{
    if (!checkpoint.tokenizer)
        return fail(checkpoint.tokenizerError);
    const auto ids = checkpoint.tokenizer->encode(text);
    if (!ids)
        return fail(ids.error());
    std::cout << json(*ids).dump() << '\n';
    return 0;
}

int showDigest(const Weights& weights)
{
    const auto digest = weightDigest(weights);
    if (!digest)
        return fail(digest.error());
    std::cout << *digest << '\n';
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> arguments(argv, argv + argc);
    if (argc < 3)
        return fail({Errc::Invalid, "needs a command and a path", {}, {}});
    const std::string& command = arguments[1];
    if (command == "weights") {
        const auto weights = openSafetensors(arguments[2]);
        return weights ? writeTensors(**weights, arguments.at(3)) : fail(weights.error());
    }
    const auto checkpoint = openCheckpoint(arguments[2]);
    if (!checkpoint)
        return fail(checkpoint.error());
    if (command == "plan") {
        std::cout << planJson(checkpoint->plan).dump() << '\n';
        return 0;
    }
    if (command == "list")
        return list(*checkpoint->weights);
    if (command == "digest")
        return showDigest(*checkpoint->weights);
    if (command == "tensors")
        return writeTensors(*checkpoint->weights, arguments.at(3));
    if (command == "ids")
        return showTokens(*checkpoint, arguments.at(3));
    return fail({Errc::Invalid, "knows no command " + command, {}, {}});
}
