# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What wire_client received as arrays (core/wire/PROTOCOL.md, section 4), and its comparison with a capture by h5py."""
import h5py
import numpy as np

BITS = {"bf16": 2, "fp16": 2, "fp32": 4, "fp64": 8, "e4m3fn": 1, "e5m2": 1, "e4m3fnuz": 1, "e5m2fnuz": 1, "int8": 1,
        "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "bool": 1}
RECORD = np.dtype({"names": ["sample", "position", "step", "slot", "phase", "construction", "zero", "id", "logit", "rank",
                             "roll_up", "log_prob"],
                   "formats": ["<u4", "<u4", "<u4", "<u4", "u1", "u1", "<u2", "<i4", "<f4", "<i4", "<u8", "<f8"],
                   "offsets": [0, 4, 8, 12, 16, 17, 18, 20, 24, 28, 32, 40], "itemsize": 48})
FILE_FIELDS = {"sample": "sample", "position": "position", "step": "step", "slot": "batch_slot", "phase": "phase",
               "construction": "construction", "id": "score_id", "logit": "score_logit", "rank": "score_rank",
               "roll_up": "roll_up", "log_prob": "score_log_prob"}
COUNTS = np.dtype([("finite", "<u4"), ("nan", "<u4"), ("infinite", "<u4")])
STATISTICS = np.dtype([("min", "<f4"), ("max", "<f4"), ("mean", "<f4"), ("l2", "<f4")])
TOP = {"top-ids": "ids", "top-values": "values", "top-lse": "log_sum_exp", "top-mass": "remaining_mass",
       "asked-ids": "asked_ids", "asked-values": "asked_values"}
ROUTE = {"route-ids": "ids", "route-weights": "weights", "route-logits": "logits", "route-scores": "scores"}
# Of the environment, what two recordings of one run cannot have in common.
OF_THE_OCCASION = {"run.start_time", "run.end_time", "run.wall_seconds", "run.peak_bytes", "run.command_line"}
_STEP = np.uint64(0x9E3779B97F4A7C15)


def digest(rows):
    """D of FORMAT.md over the last axis; elements are unsigned."""
    with np.errstate(over="ignore"):
        z = rows.astype(np.uint64) + np.arange(1, rows.shape[-1] + 1, dtype=np.uint64) * _STEP
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return (z ^ z >> np.uint64(31)).sum(axis=-1, dtype=np.uint64)


def text_of(value):
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


class ReceivedRun:
    """take() every message in order; arrays come from rows(), table(kind, index)."""

    def __init__(self):
        self.begin = self.finish = self.broken = None
        self.environment, self.samples, self.tokens, self.events, self.gaps, self.endings = {}, [], [], [], [], {}
        self.vocabulary = []
        self._parts = {}
        self.row_count = 0
        self.missing = []  # ranges of rows that a gap says are gone
        self.sequence = 0

    def take(self, message):
        fields = message.fields
        assert fields["seq"] == self.sequence, f"message {fields['seq']} where {self.sequence} was due"
        self.sequence = fields["to"] if message.type == "gap" else fields["seq"] + 1
        getattr(self, "_" + message.type.replace("-", "_"))(fields, message.frames)

    def take_all(self, stream):
        for message in stream:
            self.take(message)
        return self

    def _begin(self, fields, frames):
        self.begin = fields
        self.environment.update({key: text_of(value) for key, value in fields["environment"]})
        if fields["vocabulary"]:
            ends = np.frombuffer(frames[0], "<u8")
            text = bytes(frames[1])
            assert len(ends) == fields["vocabulary"] and int(ends[-1]) == len(text)
            self.vocabulary = [text[begin:end] for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist())]

    def _sample(self, fields, frames):
        assert fields["sample"] == len(self.samples)
        self.samples.append(fields)
        self.tokens.append([])
        self._add_tokens(fields["sample"], fields["tokens"])

    def _tokens(self, fields, frames):
        assert fields["first"] == len(self.tokens[fields["sample"]])
        self._add_tokens(fields["sample"], fields["tokens"])

    def _add_tokens(self, sample, tokens):
        text, begin = tokens["bytes"], 0
        for place, number in enumerate(tokens["ids"]):
            end = tokens["ends"][place]
            self.tokens[sample].append((number, tokens["response"], tokens["offsets"][place], text[begin:end]))
            begin = end

    def _rows(self, fields, frames):
        assert fields["first"] == self.row_count, f"row {fields['first']} where {self.row_count} was due"
        count = fields["count"]
        kinds = [(kind, index + n) for kind, index, many in fields["frames"] for n in range(many)]
        assert len(kinds) == len(frames)
        for (kind, index), frame in zip(kinds, frames):
            element, width = self._shape(kind, index)
            values = np.frombuffer(frame, element)
            assert values.size == count * width, f"{kind} {index} has {values.size} elements"
            self._parts.setdefault((kind, index), []).append(values.reshape(count, width))
        records, digests = self._parts["rows", 0][-1][:, 0], self._parts["digests", 0][-1]
        assert (digest(digests) == records["roll_up"]).all(), "a roll-up that is not of its digests"
        self.row_count += count

    def _shape(self, kind, index):
        """Element type and elements a row of a frame."""
        taps, logits = self.begin["taps"], self.begin["logits"]
        plain = {"rows": (RECORD, 1), "digests": ("<u8", len(taps)), "counts": (COUNTS, len(taps)),
                 "statistics": (STATISTICS, len(taps)), "top-ids": ("<i4", logits["top"]), "top-values": ("<f4", logits["top"]),
                 "top-lse": ("<f8", 1), "top-mass": ("<f8", 1), "asked-ids": ("<i4", logits["asked"]),
                 "asked-values": ("<f4", logits["asked"])}
        if kind in plain:
            return plain[kind]
        if kind == "values":
            return f"<u{BITS[taps[index]['dtype']]}", taps[index]["width"]
        router = self.begin["routers"][index]
        return {"route-ids": ("<i4", router["chosen"]), "route-weights": (f"<u{BITS[router['weights']]}", router["chosen"]),
                "route-logits": (f"<u{BITS[router['logits']]}", router["experts"]),
                "route-scores": ("<f4", router["experts"])}[kind]

    def _event(self, fields, frames):
        self.events.append((fields["row"], fields["kind"], text_of(fields["text"])))

    def _sample_end(self, fields, frames):
        self.endings[fields["sample"]] = fields["stop"], text_of(fields["prediction"])

    def _finish(self, fields, frames):
        self.finish = fields
        self.environment.update({key: text_of(value) for key, value in fields["environment"]})

    def _broken(self, fields, frames):
        self.broken = fields

    def _gap(self, fields, frames):
        self.gaps.append(fields)
        if fields["count"]:
            self.missing.append((fields["first"], fields["first"] + fields["count"]))
            self.row_count = fields["first"] + fields["count"]

    def table(self, kind, index=0):
        """rows x width; records for `rows`, bits for values. Rows of a gap are left out."""
        return np.concatenate(self._parts[kind, index])

    def kept_rows(self):
        kept = np.ones(self.row_count, bool)
        for begin, end in self.missing:
            kept[begin:end] = False
        return kept


def differences(run, path, occasion=OF_THE_OCCASION):
    """Where what was received is not what the file holds: a list of sentences, empty when all is equal."""
    found = []

    def same(what, ours, theirs):
        if not np.array_equal(np.ascontiguousarray(ours).view(np.uint8).reshape(-1),
                              np.ascontiguousarray(theirs).view(np.uint8).reshape(-1)):
            found.append(f"{what} differs")

    with h5py.File(path, "r") as file:
        text = file["text"][:].tobytes()

        def ref(r):
            return text[int(r["offset"]):int(r["offset"]) + int(r["length"])]

        _compare_header(run, file, ref, found, occasion)
        _compare_samples(run, file, ref, found)
        kept = run.kept_rows()
        stored = file["rows"][:]
        if len(stored) != run.row_count:
            return found + [f"{run.row_count} rows received, {len(stored)} in the file"]
        if run.row_count == 0:
            return found
        records = run.table("rows")[:, 0]
        for ours, theirs in FILE_FIELDS.items():
            same(f"rows.{ours}", records[ours], stored[theirs][kept])
        for kind in ("digests", "counts", "statistics"):
            if kind in file:
                same(kind, run.table(kind), file[kind][:][kept])
        for kind, name in TOP.items():
            if name in file.get("top_k", {}):
                same(kind, run.table(kind), file["top_k"][name][:][kept])
        for index, router in enumerate(run.begin["routers"]):
            for kind, name in ROUTE.items():
                data = file["routing"][router["module"]]
                if name in data:
                    same(f"{kind} {index}", run.table(kind, index), bits(data[name])[kept])
        for index, tap in enumerate(run.begin["taps"]):
            if ("values", index) in run._parts:
                same(tap["name"], run.table("values", index), bits(file["values"][tap["name"]])[kept])
    return found


def bits(dataset):
    """The bits of a dataset, read in the file's own type: nothing is converted (h5py would widen bf16)."""
    kind = dataset.id.get_type()
    values = np.empty(dataset.shape, f"<u{kind.get_size()}")
    dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, values, kind)
    return values


def _compare_header(run, file, ref, found, occasion):
    fields = {}
    for record in file["environment"][:]:
        value = [text_of(ref(record["text"])), int(record["integer"]), float(record["real"]), bool(record["integer"])]
        fields[ref(record["key"]).decode()] = value[int(record["kind"])]
    for key in {*fields, *run.environment} - occasion:
        if (type(fields.get(key)), fields.get(key)) != (type(run.environment.get(key)), run.environment.get(key)):
            found.append(f"{key} is {run.environment.get(key)!r} on the wire and {fields.get(key)!r} in the file")
    inputs = file["tap_inputs"][:].tolist()
    taps = [(ref(t["name"]).decode(), int(t["layer"]), int(t["kind"]), int(t["width"]), int(t["slots"]),
             inputs[int(t["inputs_begin"]):][:int(t["inputs_count"])], bool(t["inputs_complete"]),
             bool(t["reads_earlier_rows"]), int(t["rank"]), bool(t["partial"]), bool(t["tp_sensitive"]))
            for t in file["taps"][:]]
    ours = [tuple(t[name] for name in ("name", "layer", "kind", "width", "slots", "inputs", "complete", "earlier", "rank",
                                       "partial", "sensitive")) for t in run.begin["taps"]]
    if taps != ours:
        found.append("taps differ: " + "; ".join(f"{a} / {b}" for a, b in zip(ours, taps) if a != b)[:400])
    routers = [(ref(r["module"]).decode(), int(r["layer"]), int(r["experts"]), int(r["chosen"]), bool(r["has_scores"]))
               for r in file["routers"][:]]
    if routers != [(r["module"], r["layer"], r["experts"], r["chosen"], r["scores"]) for r in run.begin["routers"]]:
        found.append("routers differ")
    head = file["run"][0]
    if ({0: "digest", 1: "topk", 2: "full"}[int(head["level"])], int(head["vocabulary"]), int(head["top_k"])) != (
            run.begin["level"], run.begin["logits"]["vocabulary"], run.begin["logits"]["top"]):
        found.append("level or logits differ")


def _compare_samples(run, file, ref, found):
    choices = [text_of(ref(choice)) for choice in file["choices"][:]]
    stored = [(text_of(ref(s["id"])), int(s["repeat"]), text_of(ref(s["category"])), text_of(ref(s["text"])),
               choices[int(s["choices_begin"]):][:int(s["choices_count"])], text_of(ref(s["label"])),
               text_of(ref(s["replay_source"]))) for s in file["samples"][:]]
    ours = [(text_of(s["name"]), s["repeat"], text_of(s["category"]), text_of(s["text"]), list(map(text_of, s["choices"])),
             text_of(s["label"]), text_of(s["replay"])) for s in run.samples]
    if stored != ours:
        found.append("samples differ")
    tokens = {number: [] for number in range(-1, len(ours))}
    for token in file["tokens"][:]:
        begin, length = int(token["bytes_offset"]), int(token["bytes_length"])
        piece = ref({"offset": begin, "length": length})
        sample = int(token["sample"])
        tokens[-1 if sample == 2**32 - 1 else sample].append(
            (int(token["id"]), bool(token["response"]), int(token["text_offset"]), piece))
    if [piece for _, _, _, piece in tokens.pop(-1)] != run.vocabulary:
        found.append("the vocabulary differs")
    for number, known in enumerate(run.tokens):
        if tokens[number] != known:
            found.append(f"the tokens of sample {number} differ")
    endings = {int(e["sample"]): (text_of(ref(e["stop_reason"])), text_of(ref(e["prediction"]))) for e in file["endings"][:]}
    if endings != {n: (text_of(a), text_of(b)) for n, (a, b) in run.endings.items()}:
        found.append(f"endings differ: {run.endings} / {endings}")
    events = [(int(e["row"]), ref(e["kind"]).decode(), text_of(ref(e["text"]))) for e in file["events"][:]]
    if events != run.events:
        found.append(f"events differ: {run.events} / {events}")
