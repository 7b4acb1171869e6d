"""The wheel, made as python/build_wheel makes it, is complete and works from where it is unpacked."""

import importlib.metadata
import os
import pathlib
import sys
import tempfile
import unittest
import zipfile

import installed
from installed import ROOT

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
            installed.plan_in(self, site, metactrl_backend.version())


if __name__ == "__main__":
    unittest.main(verbosity=2)
