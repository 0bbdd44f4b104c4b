# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Our chat templates against Python's jinja2, set up as Hugging Face transformers sets it up."""
import datetime
import json
import random
import subprocess
import sys
import unittest

import jinja2
import jinja2.ext
import jinja2.sandbox

from chat_templates import CONVERSATIONS, ENDLESS, FAMILIES, GENERATION, SNIPPETS

RENDER = sys.argv.pop(1)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


def environment():
    def refuse(message):
        raise jinja2.exceptions.TemplateError(message)

    env = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                       extensions=[jinja2.ext.loopcontrols])
    env.filters["tojson"] = lambda x, ensure_ascii=False, indent=None: json.dumps(x, ensure_ascii=ensure_ascii, indent=indent)
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    return env


def theirs(template, conversation):
    """The text, or None where jinja2 refuses."""
    try:
        return environment().from_string(template).render(messages=conversation, tools=None, documents=None,
                                                          add_generation_prompt=True, **TOKENS)
    except (jinja2.exceptions.TemplateError, TypeError, ValueError, ZeroDivisionError, OverflowError, AttributeError,
            SyntaxError):
        return None


def ours(jobs, seconds=60):
    request = {"tokens": TOKENS, "jobs": [{"template": t, "conversation": c} for t, c in jobs]}
    done = subprocess.run([RENDER], input=json.dumps(request), capture_output=True, text=True, timeout=seconds)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


class ChatTemplates(unittest.TestCase):
    def same(self, jobs):
        for (template, conversation), got in zip(jobs, ours(jobs)):
            with self.subTest(template=template[:200], conversation=conversation):
                expected = theirs(template, conversation)
                if expected is None:
                    self.assertIsInstance(got, dict, "jinja2 refuses it")
                else:
                    self.assertEqual(got, expected)

    def test_families(self):
        self.same([(t, c) for t in FAMILIES.values() for c in CONVERSATIONS])

    def test_constructs(self):
        self.same([(t, CONVERSATIONS[3]) for t in SNIPPETS])

    def test_generation_blocks_write_their_body(self):
        self.assertEqual(ours([(GENERATION, [])]), ["a1b"])

    def test_the_time(self):
        got, = ours([("{{ strftime_now('%Y') }}", [])])
        self.assertIn(int(got), (datetime.datetime.now().year - 1, datetime.datetime.now().year))

    def test_constructs_that_are_not_supported_are_named(self):
        for template, name in [("{% include 'x' %}", "include"), ("{% raw %}x{% endraw %}", "raw"), ("{{ 'a'|escape }}", "escape"),
                               ("{{ f(*x) }}", "*"), ("{% call f() %}{% endcall %}", "call"), ("{{ 1 is divisibleby 2 }}", "divisibleby"),
                               ("{% for x in [1] recursive %}{% endfor %}", "recursive"), ("{{ {1: 2} }}", "key"),
                               ("{% for x in [1] %}{% macro m() %}{% endmacro %}{% endfor %}", "macro")]:
            with self.subTest(template):
                got, = ours([(template, CONVERSATIONS[0])])
                self.assertIn(name, got["error"])
                self.assertIn("supported", got["error"])

    def test_what_would_not_end_is_refused(self):
        for template in ENDLESS:
            with self.subTest(template[:80]):
                self.assertIn("error", ours([(template, CONVERSATIONS[0])])[0])

    def test_the_template_says_why_it_refuses(self):
        got, = ours([("{{ raise_exception('Roles must alternate') }}", CONVERSATIONS[0])])
        self.assertIn("Roles must alternate", got["error"])

    def test_mangled_templates_do_no_harm(self):
        rng = random.Random(11)
        jobs, sources = [], []
        pieces = ["{{", "}}", "{%", "%}", "-", "'", '"', "(", ")", "[", "]", "|", ".", " ", "\n", "is", "not", "if", "\\", "{", "}"]
        for _ in range(1500):
            sources.append(rng.choice(list(FAMILIES.values()) + SNIPPETS))
            template = list(sources[-1])
            for _ in range(rng.randint(1, 4)):
                place = rng.randrange(len(template) + 1)
                if rng.random() < 0.5:
                    template[place:place + rng.randint(1, 8)] = []
                else:
                    template.insert(place, rng.choice(pieces))
            jobs.append(("".join(template), rng.choice(CONVERSATIONS)))
        # Of the constructs, those that no template has may differ (the text of a Python method, say).
        published = set(FAMILIES.values())
        different = [job for job, got, source in zip(jobs, ours(jobs, 120), sources)
                     if source in published and isinstance(got, str) and theirs(*job) not in (got, None)]
        self.assertEqual(different[:3], [])


if __name__ == "__main__":
    unittest.main()
