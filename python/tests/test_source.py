"""The package's source: it is Python 3.9 whatever Python runs the tests, and its types are right by mypy's strict rules, where mypy is installed."""

import ast
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import ROOT

PYTHON = ROOT / "python"
FILES = sorted((PYTHON / "metactrl").glob("*.py")) + [PYTHON / "backend" / "metactrl_backend.py", PYTHON / "build_wheel"]
OLDEST = (3, 9)

# What came later, by the names under which it is used. Types in annotations are texts (from __future__ import annotations) and may be new; mypy looks at those.
NEWER_MODULES = {"tomllib", "compression", "annotationlib"}
NEWER_NAMES = {"anext", "aiter", "EncodingWarning", "ExceptionGroup", "BaseExceptionGroup", "PythonFinalizationError"}
NEWER = {
    "typing": {"ParamSpec", "Concatenate", "TypeAlias", "TypeGuard", "Self", "Never", "LiteralString", "Required", "NotRequired", "Unpack", "TypeVarTuple",
               "assert_never", "assert_type", "reveal_type", "dataclass_transform", "override", "TypeIs", "ReadOnly", "NoDefault", "is_typeddict"},
    "types": {"NoneType", "EllipsisType", "NotImplementedType", "UnionType", "get_original_bases", "CapsuleType"},
    "itertools": {"pairwise", "batched"},
    "enum": {"StrEnum", "ReprEnum", "EnumCheck", "verify", "member", "nonmember"},
    "contextlib": {"aclosing", "chdir"},
    "dataclasses": {"KW_ONLY"},
    "datetime": {"UTC"},
    "hashlib": {"file_digest"},
    "inspect": {"get_annotations", "getmembers_static"},
    "math": {"cbrt", "exp2", "sumprod", "fma"},
    "operator": {"call", "is_none"},
    "statistics": {"correlation", "covariance", "linear_regression", "kde"},
    "string": {"templatelib"},
    "sys": {"exception", "activate_stack_trampoline", "monitoring", "orig_argv", "stdlib_module_names"},
    "threading": {"gettrace", "getprofile", "setprofile_all_threads", "settrace_all_threads"},
    "warnings": {"deprecated"},
    "copy": {"replace"},
    "ctypes": {"memoryview_at"},
}
NEWER_METHODS = {"bit_count", "add_note", "hardlink_to", "full_match", "is_junction"}
NEWER_ARGUMENTS = {"zip": {"strict"}, "dataclass": {"slots", "kw_only", "match_args", "weakref_slot"}, "field": {"kw_only"}, "map": {"strict"},
                   "entry_points": {"group", "name"}, "rmtree": {"onexc"}}


def newer(tree):
    """What of a file is not in Python 3.9, as far as names say so."""
    found = []
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update({alias.asname or alias.name: alias.name for alias in node.names})
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in NEWER_MODULES]
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").partition(".")[0] in NEWER_MODULES:
                found.append(node.module)
            found += [f"{node.module}.{alias.name}" for alias in node.names if alias.name in NEWER.get(node.module, ())]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = modules.get(node.value.id) if isinstance(node.value, ast.Name) else None
            if node.attr in NEWER.get(module, ()) or node.attr in NEWER_METHODS:
                found.append(f"{module or '?'}.{node.attr}")
        elif isinstance(node, ast.Name) and node.id in NEWER_NAMES:
            found.append(node.id)
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            found += [f"{name}({word.arg}=)" for word in node.keywords if word.arg in NEWER_ARGUMENTS.get(name, ())]
    return found


class Python39(unittest.TestCase):
    def test_every_file(self):
        self.assertGreater(len(FILES), 15)
        for file in FILES:
            with self.subTest(file.name):
                tree = ast.parse(file.read_text(encoding="utf-8"), str(file), feature_version=OLDEST)
                self.assertEqual(newer(tree), [])
                imported = [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__" for alias in node.names]
                annotated = any(getattr(node, "annotation", None) or getattr(node, "returns", None) for node in ast.walk(tree))
                self.assertTrue("annotations" in imported or not annotated, "its annotations are evaluated")

    def test_what_is_newer_is_found(self):
        for text in ("import tomllib", "from itertools import pairwise", "import itertools as i\ni.batched(x, 2)", "zip(a, b, strict=True)", "n.bit_count()",
                     "from dataclasses import dataclass\n@dataclass(slots=True)\nclass A: pass", "raise ExceptionGroup('', [])"):
            self.assertEqual(len(newer(ast.parse(text))), 1, text)
        for text in ("match x:\n  case 1: pass", "try: pass\nexcept* ValueError: pass"):
            with self.assertRaises(SyntaxError):
                ast.parse(text, feature_version=OLDEST)


def mypy():
    """How it is called; None where it is not installed."""
    if importlib.util.find_spec("mypy"):
        return [sys.executable, "-m", "mypy"]
    program = shutil.which("mypy")
    return [program] if program else None


@unittest.skipUnless(mypy(), "mypy is not installed")
class Typed(unittest.TestCase):
    def check(self, package):
        """The settings are those of pyproject.toml. Names that are newer than Python 3.9 are unknown to it."""
        with tempfile.TemporaryDirectory() as cache:
            command = [*mypy(), "--python-version", ".".join(map(str, OLDEST)), "--config-file", str(PYTHON / "pyproject.toml"), "--cache-dir", cache]
            return subprocess.run([*command, str(package)], capture_output=True, text=True, check=False, cwd=PYTHON)

    def test_the_package(self):
        ran = self.check(PYTHON / "metactrl")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertRegex(ran.stdout, rf"no issues found in {len(list((PYTHON / 'metactrl').glob('*.py')))} source files")

    def test_what_is_wrong_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "wrong.py"
            file.write_text("def f(x):\n    return x\n\n\ndef g() -> int:\n    return 'text'\n\n\nprint((5).bit_count())\n", encoding="utf-8")
            ran = self.check(file)
            for wrong in ("no-untyped-def", "return-value", "bit_count"):
                self.assertIn(wrong, ran.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
