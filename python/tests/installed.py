"""A plan with the package as it was installed somewhere, in a process of its own that finds it there and nowhere else."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLETOP = ROOT / "domains" / "tabletop"
PROGRAM = f"""
import metactrl, metactrl._library
task = metactrl.Task.load({str(TABLETOP / 'domain.pddl')!r}, {str(TABLETOP / 'dishwasher.pddl')!r})
tokens = [bytes([b]) for b in range(256)] + [b'']
plan = metactrl.plan(task, lambda t: [0.0] * 257, metactrl.Vocabulary(tokens, [256]))
print(metactrl.__file__, metactrl._library.library._name, metactrl.__version__, plan.valid)
"""


def environment(**changes):
    """Without the variable that names a library."""
    kept = {key: value for key, value in os.environ.items() if key not in ("METACTRL_LIBRARY", "METACTRL_WHEEL_BUILD", "PYTHONPATH")}
    return {**kept, **changes}


def plan_in(case, site, version):
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment(PYTHONPATH=str(site)), cwd=site, capture_output=True, text=True, check=False)
    case.assertEqual(ran.returncode, 0, ran.stderr)
    package = pathlib.Path(site).resolve() / "metactrl"
    case.assertEqual(ran.stdout.split(), [str(package / "__init__.py"), str(package / "libmetactrl_c.so"), version, "True"])
