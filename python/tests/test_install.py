"""What the manual says of installing, done in a copy of the project: a wheel by python/build_wheel with its own flags, installed by pip without a network, and
`pip install ./python`. Each then plans. Slow: it compiles the library."""

import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import installed
from installed import ROOT

sys.path.insert(0, str(ROOT / "python" / "backend"))
import metactrl_backend  # noqa: E402


def not_the_project(folder, names):
    """What builds and others have left."""
    return [name for name in names if name in (".git", "node_modules", "__pycache__") or (name == "build" and pathlib.Path(folder) == ROOT)]


@unittest.skipUnless(importlib.util.find_spec("pip"), "pip is not installed")
class Install(unittest.TestCase):
    def run_in(self, folder, *command, **changes):
        # A copy lies elsewhere every time: without this the compiler's cache, where there is one, would not know its files again.
        ran = subprocess.run(
            [sys.executable, *command], cwd=folder, env=installed.environment(CCACHE_BASEDIR=str(folder), **changes), capture_output=True, text=True,
            check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout[-4000:] + ran.stderr[-4000:])
        return ran.stdout

    def test_as_the_manual_says(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary).resolve()
            copy = folder / "copy"
            shutil.copytree(ROOT, copy, ignore=not_the_project, symlinks=True)
            wheel = pathlib.Path(self.run_in(copy, "python/build_wheel").split()[-1])
            self.assertEqual(wheel.parent, copy / "build" / "wheel")
            pip = ["-m", "pip", "install", "--no-index", "--disable-pip-version-check", "--target"]
            self.run_in(folder, *pip, str(folder / "one"), str(wheel))
            installed.plan_in(self, folder / "one", metactrl_backend.version())
            needed = subprocess.run(["ldd", str(folder / "one" / "metactrl" / "libmetactrl_c.so")], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("libstdc++", needed, "the C++ library is not inside")
            # What was compiled is taken again.
            self.run_in(copy, *pip, str(folder / "other"), "./python", METACTRL_WHEEL_BUILD=str(copy / "build" / "wheel-library"))
            installed.plan_in(self, folder / "other", metactrl_backend.version())


if __name__ == "__main__":
    unittest.main(verbosity=2)
