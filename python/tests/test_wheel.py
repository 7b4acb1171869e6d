"""The wheel, made as python/build_wheel makes it, is complete and works from where it is unpacked."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

from support import ROOT, TABLETOP

sys.path.insert(0, str(ROOT / "python" / "backend"))
import metactrl_backend  # noqa: E402


class Wheel(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("METACTRL_LIBRARY"), "METACTRL_LIBRARY names no library to put in")
    def test_the_wheel(self):
        with tempfile.TemporaryDirectory() as folder:
            name = metactrl_backend.build_wheel(folder)
            self.assertRegex(name, r"^metactrl-[\d.]+-py3-none-\w+\.whl$")
            site = pathlib.Path(folder) / "site"
            with zipfile.ZipFile(pathlib.Path(folder) / name) as archive:
                self.assertIsNone(archive.testzip())
                names = archive.namelist()
                record = archive.read(next(n for n in names if n.endswith("/RECORD"))).decode()
                self.assertEqual(sorted(line.split(",")[0] for line in record.splitlines()), sorted(names))
                archive.extractall(site)
            (found,) = importlib.metadata.Distribution.at(next(site.glob("*.dist-info"))).entry_points
            self.assertEqual((found.group, found.name, found.value), ("sglang.srt.plugins", "metactrl", "metactrl.sglang:register"))
            modules = {path.name for path in (ROOT / "python" / "metactrl").glob("*.py")}
            self.assertEqual({n.split("/")[1] for n in names if n.startswith("metactrl/")}, modules | {"py.typed", "libmetactrl_c.so"})
            program = (
                "import metactrl, sys\n"
                f"task = metactrl.Task.load({str(TABLETOP / 'domain.pddl')!r}, {str(TABLETOP / 'dishwasher.pddl')!r})\n"
                "tokens = [bytes([b]) for b in range(256)] + [b'']\n"
                "plan = metactrl.plan(task, lambda t: [0.0] * 257, metactrl.Vocabulary(tokens, [256]))\n"
                "print(metactrl.__file__, metactrl.__version__, plan.valid)\n"
            )
            environment = {key: value for key, value in os.environ.items() if key != "METACTRL_LIBRARY"}
            environment["PYTHONPATH"] = str(site)
            ran = subprocess.run([sys.executable, "-c", program], env=environment, cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertTrue(ran.stdout.startswith(str(site)), ran.stdout)
            self.assertTrue(ran.stdout.strip().endswith(f"{metactrl_backend.version()} True"), ran.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
