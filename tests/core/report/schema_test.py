# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The schema is one, the golden reports keep it, and reports that break it are refused:
schema_test.py SCHEMA GOLDEN_FOLDER."""
import copy
import json
import sys
from pathlib import Path

import jsonschema

schema = json.loads(Path(sys.argv[1]).read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
reports = [json.loads(p.read_text()) for p in sorted(Path(sys.argv[2]).glob("*.json"))]
assert len(reports) == 2
for report in reports:
    validator.validate(report)

divergent = next(r for r in reports if r["exit"] == 1)
first = divergent["first"]["bitwise"]
assert first["reference"] == {"value": 0.84765625, "bits": "0x3f59"}
assert first["target"]["bits"] == "0x8000" and str(first["target"]["value"]) == "-0.0"
assert divergent["measures"]["B2"]["value"] == "Infinity"
assert divergent["measures"]["B2"]["percentiles"]["max"] == "NaN"
assert divergent["measures"]["B4"]["value"] == 1 / 3
assert divergent["measures"]["A1"]["by_position"] == [100, None, 99.9]


def broken(change):
    report = copy.deepcopy(divergent)
    change(report)
    return not validator.is_valid(report)


assert broken(lambda r: r.pop("first"))
assert broken(lambda r: r.update(extra=1))
assert broken(lambda r: r.update(exit=2))
assert broken(lambda r: r["first"]["bitwise"].update(ulps="7"))
assert broken(lambda r: r["first"]["bitwise"]["target"].update(bits=5))
assert broken(lambda r: r["measures"]["E3"].pop("why_null"))
assert broken(lambda r: r["measures"].update(Z1=r["measures"]["A1"]))
assert broken(lambda r: r["measures"]["A1"].update(value="big"))
assert broken(lambda r: r["cause"].pop("findings"))
assert broken(lambda r: r["tolerance"]["criteria"][0].update(failed=-1))
assert broken(lambda r: r["samples"][0]["blocks"][0].pop("target_begin"))
assert divergent["measures"]["A3"]["why_no_interval"] == "one sample only"
assert divergent["first"]["bitwise"]["amplification"] == 2.5
