# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Places where a capture cannot or must not be written: refused in one sentence, and nothing there is lost."""
import os
import shutil
import unittest

from capture_case import CAPTURE, CaptureCase


class BadOutputs(CaptureCase):
    def refused_at(self, path, says, **options):
        self.refused("run", self.model, "--text", "The", "-o", path, says=says, **options)

    def kept(self, path, says="not a capture"):
        """A file that is no capture stays as it is."""
        before = path.read_bytes()
        self.refused_at(path, says)
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(list(path.parent.glob(path.name + ".part*")), [])

    def test_files_of_the_model(self):
        for file in sorted(self.model.iterdir()):
            with self.subTest(file.name):
                self.kept(file)

    def test_other_files(self):
        self.kept(self.write("prompts.jsonl", '{"text": "a"}\n'))
        self.kept(self.write("short", "x"))
        self.kept(self.write("image.h5", b"\x89HDF\r\n\x1a\n" + bytes(600)))

    def test_the_prompts_themselves(self):
        prompts = self.write("prompts.jsonl", '{"text": "a"}\n')
        self.refused("run", self.model, "--prompts", prompts, "-o", prompts, says="not a capture")
        self.assertEqual(prompts.read_bytes(), b'{"text": "a"}\n')

    def test_a_link_to_a_file(self):
        target = self.write("target.txt", "precious")
        (self.folder / "link.moire").symlink_to(target)
        self.kept(self.folder / "link.moire")

    def test_no_regular_file(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.refused_at(pipe, "not a regular file")
        # By a link: where the check fails, only the link is lost and not the device.
        link = self.folder / "null"
        link.symlink_to("/dev/null")
        self.refused_at(link, "not a regular file")
        self.assertTrue(link.is_symlink())

    def test_no_name(self):
        self.refused_at("", "--output needs a value")
        self.refused_at(f"{self.folder}/", "folder")

    def test_a_capture_and_an_empty_file_are_replaced(self):
        for path in (self.write("empty.moire", ""), self.run_model("older", "--text", "The capital")):
            self.capture("run", self.model, "--text", "The", "-o", path)
            self.assertIs(self.info(path)["complete"], True)

    def test_no_right_to_write(self):
        if os.getuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs to become another user")
        as_nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", CAPTURE)
        self.shared.chmod(0o755)
        self.folder.chmod(0o755)
        if self.call(*as_nobody, "--version").returncode != 0:
            self.skipTest("another user cannot start the program")
        done = self.call(*as_nobody, "run", self.model, "--text", "The", "-o", self.folder / "o.moire")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), r"(?i)^moire-capture: .*o\.moire.*permission denied\. .*\n$")
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
