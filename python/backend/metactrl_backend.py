"""Builds the wheel: libmetactrl_c by CMake, beside it the Python files, in one archive. A build backend (PEP 517) that needs no package.

The library is built without llama.cpp and with the C++ library inside, so that it runs wherever the C library is not older than
here; METACTRL_LIBRARY names one that was built before, to be taken instead. One wheel serves all versions of Python.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
ROOT = PACKAGE.parent
# SGLang finds its plug-in by this. vLLM's is named on its command line (metactrl/vllm.py says why).
ENTRY_POINTS = "[sglang.srt.plugins]\nmetactrl = metactrl.sglang:register\n"
# What is in the archive does not depend on when it was made.
DATE = (1980, 1, 1, 0, 0, 0)


def version():
    return re.search(r"project\(metactrl VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def build_library(folder):
    """The path of libmetactrl_c.so."""
    given = os.environ.get("METACTRL_LIBRARY")
    if given:
        return pathlib.Path(given).resolve()
    flags = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_SHARED_LINKER_FLAGS=-static-libstdc++ -static-libgcc"]
    flags += [f"-DMETACTRL_{part}=OFF" for part in ("CLI", "LLAMA", "TRAINING", "ROBOT", "EXCHANGE")]
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), "-DMETACTRL_C=ON", "-DMETACTRL_RELOCATABLE=ON", *flags], check=True)
    jobs = os.environ.get("METACTRL_JOBS") or str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", str(folder), "--target", "metactrl_component_c", "--parallel", jobs], check=True)
    library = (pathlib.Path(folder) / "libmetactrl_c.so").resolve()
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", str(library)], check=True)
    return library


def metadata():
    return (
        f"Metadata-Version: 2.1\nName: metactrl\nVersion: {version()}\nSummary: Plans from language models that keep the rules\n"
        "Requires-Python: >=3.9\nLicense-File: LICENSE\n\nSee docs/python.md.\n"
    )


def write(file, library):
    info = f"metactrl-{version()}.dist-info"
    files = {f"metactrl/{path.name}": path.read_bytes() for path in sorted((PACKAGE / "metactrl").glob("*.py"))}
    files["metactrl/py.typed"] = b""
    files["metactrl/libmetactrl_c.so"] = library.read_bytes()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: metactrl\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    record = ""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(content)}\n"
            archive.writestr(zipfile.ZipInfo(name, DATE), content, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", DATE), record + f"{info}/RECORD,,\n", zipfile.ZIP_DEFLATED)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"metactrl-{version()}-{tag()}.whl"
    folder = os.environ.get("METACTRL_WHEEL_BUILD")
    with tempfile.TemporaryDirectory() as temporary:
        write(pathlib.Path(wheel_directory) / name, build_library(folder or temporary))
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("the package is built from a checkout of the whole project: use `pip wheel ./python`")
