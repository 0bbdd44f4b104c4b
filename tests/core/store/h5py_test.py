# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads capture files by h5py and NumPy alone, from FORMAT.md: h5py_test.py WRITE_SAMPLE_RUN FORMAT.md"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
WIDTH = {"bf16": 2, "fp16": 2, "fp32": 4, "fp64": 8, "int16": 2, "int32": 4, "int64": 8}


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def digest(bits):
    bits = np.asarray(bits, dtype=np.uint64)
    place = (np.arange(bits.size, dtype=np.uint64) + np.uint64(1)) * np.uint64(STEP)
    return int(mix(bits + place).sum(dtype=np.uint64)) if bits.size else 0


def words(raw, size=8):
    return np.frombuffer(raw, dtype=f"<u{size}")


def check_vectors(text):
    bf16 = [0x3F80, 0x4000, 0x4040]
    tensor_a = lambda shape: digest([digest(words(b"a.weight", 1)), 3, 2, *shape,
                                     digest(np.array([1, -2], "<f4").view("<u4"))])
    tensor_b = digest([digest(words(b"b.bias", 1)), 1, 1, 1, digest([0x3F80])])
    expected = [0, digest([0]), digest([1, 2, 3]), digest(np.array([1, 2, 3], "<f4").view("<u4")),
                digest(bf16), digest([0x8000, 0x7FC1, 0x7F80]),
                digest(np.array([1.0]).view("<u8")), digest([MASK]), digest([255, 0, 1]),
                digest(words(b"moire", 1)), tensor_a([1, 2]), tensor_a([2, 1]), tensor_b,
                (tensor_a([1, 2]) + tensor_b) & MASK]
    table = text.split("### Test vectors")[1].split("## 2.")[0]
    found = [int(x, 16) for x in re.findall(r"\| (0x[0-9a-f]{16}) \|", table)]
    assert found == expected, (found, expected)
    assert digest([0]) == 0xE220A8397B1DCDAF  # SplitMix64's first output for seed 0


def raw_bytes(path, dataset, rows):
    """A dataset's bytes from the file itself, by the chunk addresses that HDF5 tells."""
    data = path.read_bytes()
    width = dataset.id.get_type().get_size() * int(np.prod(dataset.shape[1:]))
    out = b""
    for i in range(dataset.id.get_num_chunks()):
        out += data[dataset.id.get_chunk_info(i).byte_offset:][:dataset.chunks[0] * width]
    return out[:rows * width]


def check_index(path, file, commit):
    """Every chunk that HDF5 knows is in /index, at the address that HDF5 tells."""
    index = file["index"][:int(commit["index_count"])]
    assert digest(words(index.tobytes())) == int(commit["index_digest"])
    addresses = {int(e["address"]) for e in index if e["table"] != 0xFFFFFFFF}
    seen = set()

    def visit(name, dataset):
        if isinstance(dataset, h5py.Dataset) and name not in ("index", "commit"):
            assert dataset.chunks is not None and dataset.id.get_num_chunks() < 1000
            for i in range(dataset.id.get_num_chunks()):
                seen.add(dataset.id.get_chunk_info(i).byte_offset)

    file.visititems(visit)
    assert seen <= addresses, (len(seen - addresses), len(seen), len(addresses))
    return seen


def text_of(file, ref):
    begin, length = int(ref["offset"]), int(ref["length"])
    return file["text"][begin:begin + length].tobytes()


def check_rows(path, file, folder, rows):
    taps = file["taps"][:]
    names = [text_of(file, t["name"]).decode() for t in taps]
    digests = file["digests"][:rows]
    table = file["rows"][:rows]
    assert digests.shape == (rows, len(taps))
    for r in range(rows):
        assert digest(digests[r]) == int(table["roll_up"][r])
    level = h5py.check_enum_dtype(file["run"].dtype["level"])
    if int(file["run"][0]["level"]) != level["full"]:
        assert "values" not in file
        return
    for t, name in enumerate(names):
        dataset = file["values/" + name]
        dtype = dataset.attrs["dtype"]
        dtype = dtype if isinstance(dtype, str) else dtype.decode()
        expected = (folder / (name + ".bin")).read_bytes()
        assert dataset.shape[0] >= rows and dataset.shape[1] == int(taps[t]["width"])
        assert raw_bytes(path, dataset, rows) == expected, name
        size = WIDTH.get(dtype, 1)
        bits = words(expected, size).reshape(rows, -1)
        for r in range(rows):
            assert digest(bits[r]) == int(digests[r, t]), (name, r)
        values = dataset[:rows]
        if dtype == "bf16":
            wide = (bits.astype(np.uint32) << 16).view(np.float32)
            np.testing.assert_array_equal(values.astype(np.float32), wide)
        elif dtype in ("fp16", "fp32", "fp64"):
            np.testing.assert_array_equal(values, bits.view(f"<f{size}"))
        elif dtype.startswith("int"):
            np.testing.assert_array_equal(values, bits.view(f"<i{size}"))
        elif dtype == "bool":
            assert values.dtype == bool
        if dtype in ("bf16", "fp16", "fp32", "fp64"):
            floats = values.astype(np.float64)
            counts = file["counts"][:rows, t]
            np.testing.assert_array_equal(counts["finite"], np.isfinite(floats).sum(axis=1))
            np.testing.assert_array_equal(counts["nan"], np.isnan(floats).sum(axis=1))
            np.testing.assert_array_equal(counts["infinite"], np.isinf(floats).sum(axis=1))


def side_digests(path, file, rows):
    """Section 5: one word a table, in the order of the table numbers."""
    order = [("counts", 4), ("statistics", 4), ("top_k/ids", 4), ("top_k/values", 4), ("top_k/log_sum_exp", 8),
             ("top_k/remaining_mass", 8), ("top_k/asked_ids", 4), ("top_k/asked_values", 4)]
    kinds = {"bf16": 2, "fp32": 4}
    names = {v: k for k, v in h5py.check_enum_dtype(file["routers"].dtype["logit_dtype"]).items()}
    for router in file["routers"][:]:
        folder = "routing/" + text_of(file, router["module"]).decode()
        order += [(folder + "/ids", 4), (folder + "/weights", kinds[names[int(router["weight_dtype"])]]),
                  (folder + "/logits", kinds[names[int(router["logit_dtype"])]]), (folder + "/scores", 4)]
    tables = [(raw_bytes(path, file[name], rows), size) for name, size in order if name in file]
    for r in range(rows):
        yield digest([digest(words(raw[r * len(raw) // rows:(r + 1) * len(raw) // rows], size))
                      for raw, size in tables])


def check_file(path, folder, complete):
    block = path.read_bytes()[:512]
    assert block[:8] == b"\x89MOIRE\r\n" and words(block[8:16], 4).tolist() == [1, 512]
    assert digest(words(block[:48])) == int(words(block[48:56])[0])
    with h5py.File(path, "r", swmr=not complete) as file:
        assert file.attrs["format_version"] == 1
        records = file["commit"][:]
        for record in records:
            raw = record.tobytes()
            assert digest(words(raw[:248])) == int(record["digest"]) or int(record["sequence"]) == 0
        commit = records[int(np.argmax(records["sequence"]))]
        assert int(commit["state"]) == (1 if complete else 0)
        assert not complete or int(commit["file_bytes"]) == path.stat().st_size
        rows = int(commit["rows_count"])
        assert rows == 30
        if complete:
            for name in ("rows", "digests", "counts", "tokens", "samples", "text"):
                assert len(file[name]) == int(commit[name + "_count"]) if name + "_count" in commit.dtype.names \
                    else len(file[name]) == rows
        for name in ("text", "run", "taps", "tap_inputs", "routers", "environment", "samples", "choices",
                     "tokens", "events", "endings", "rows"):
            count = int(commit[name + "_count"])
            raw = raw_bytes(path, file[name], count)
            size = {"text": 1, "tap_inputs": 4}.get(name, 8)
            assert digest(words(raw, size)) == int(commit[name + "_digest"]), name
        check_index(path, file, commit)
        check_rows(path, file, folder, rows)
        assert list(side_digests(path, file, rows)) == file["rows"]["side"][:rows].tolist()
        samples = file["samples"][:3]
        assert [text_of(file, s["id"]) for s in samples] == [b"s/0", b"s/1", b"s/2"]
        assert text_of(file, samples[2]["text"]).decode() == "na\u00efve \u202e"
        tokens = file["tokens"][:int(commit["tokens_count"])]
        assert (tokens["sample"] == 1).sum() == 11 and tokens["response"].dtype == bool
        environment = {text_of(file, e["key"]).decode(): e for e in file["environment"][:int(commit["environment_count"])]}
        assert int(environment["model.vocab_size"]["integer"]) == 50
        assert float(environment["a.number"]["real"]) == -0.5


def check_dump(path):
    tool = shutil.which("h5dump")
    if tool is None:
        print("h5dump is not installed: not checked")
        return
    out = subprocess.run([tool, "-d", "/values/model.layers.0.bf16.out", str(path)], capture_output=True, text=True)
    assert out.returncode == 0 and "(29,0):" in out.stdout, out.stderr
    assert "H5T_FLOAT" in out.stdout or "16-bit little-endian floating-point" in out.stdout
    everything = subprocess.run([tool, str(path)], capture_output=True, text=True)
    assert everything.returncode == 0, everything.stderr


def main():
    program, specification = sys.argv[1:]
    check_vectors(pathlib.Path(specification).read_text(encoding="utf-8"))
    for level in ("digest", "topk", "full"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([program, name, level], check=True)
            check_file(folder / "whole.moire", folder, True)
            check_file(folder / "part.moire.part", folder, False)
            if level == "full":
                check_dump(folder / "whole.moire")
    print("h5py reads every table as FORMAT.md says")


np.seterr(over="ignore")
main()
