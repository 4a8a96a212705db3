"""``diffclass doctor``: what is installed and how it will run, for bug reports."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from diffclass import __version__
from diffclass.command_line.console import Console, common_options
from diffclass.command_line.option_groups import command
from diffclass.exceptions import ExtensionError
from diffclass.system.extensions import GROUPS, extension_names, load_extension

_COMPUTED_WITH = ("numpy", "scipy", "scikit-learn", "numba")
_MODULES = {"pillow": "PIL"}
_RASTER_DRIVERS = ("GTiff",)
_VECTOR_DRIVERS = ("GeoJSON", "ESRI Shapefile", "GPKG", "FlatGeobuf", "KML", "LIBKML")
_VARIABLES = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "DIFFCLASS_NUMBA_CACHE")


def version_line() -> str:
    """Return the versions of diffclass and of what it computes with, from the packages' records."""
    others = ", ".join(f"{name} {_version(name) or 'missing'}" for name in _COMPUTED_WITH)
    return f"diffclass {__version__} (Python {platform.python_version()}, {others})"


@command(epilog="Example: diffclass doctor")
@common_options
def doctor(*, console: Console) -> None:
    """List what is installed and how it will run, for bug reports.

    Lists versions, what each extra lacks, the file formats that GDAL can read, what other packages
    add, threads, memory and where compiled loops are kept.
    """
    from diffclass._cuda.device import describe

    facts = {
        "diffclass": __version__,
        "installed_in": str(Path(__file__).parents[1]),
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "computes_with": {name: _version(name) for name in _COMPUTED_WITH},
        "extras": _extras(),
        "gdal": _gdal(),
        "extensions": _extensions(),
        "threads": _threads(),
        "memory_bytes": _memory(),
        "compiled_loops": _compiled_loops(),
        "gpu": describe(),
    }
    console.give(facts, "\n".join(_lines(facts)))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _extras() -> dict[str, dict[str, str | None]]:
    """Return the version of every package of every extra that users may want, None for missing."""
    found: dict[str, dict[str, str | None]] = {}
    for line in requires("diffclass") or []:
        package, _, rest = line.partition(";")
        name = package.split("[")[0].split(">")[0].split("=")[0].strip()
        extra = rest.partition("extra ==")[2].strip(" '\"")
        if extra and extra not in ("all", "dev", "docs") and name != "diffclass":
            found.setdefault(extra, {})[name] = _working_version(name)
    return found


def _working_version(name: str) -> str | None:
    """Return the version of a package that can be imported; of one that cannot, why."""
    installed = _version(name)
    if installed is None:
        return None
    try:
        importlib.import_module(_MODULES.get(name, name.replace("-", "_")))
    except Exception as error:
        return f"{installed}, which cannot be imported ({' '.join(str(error).split())[:120]})"
    return installed


def _gdal() -> dict[str, Any]:
    facts: dict[str, Any] = {}
    try:
        import rasterio
        from rasterio.drivers import raster_driver_extensions

        known = set(raster_driver_extensions().values())
        facts["rasterio"] = rasterio.__gdal_version__
        facts["raster_drivers"] = [name for name in _RASTER_DRIVERS if name in known]
    except ImportError:
        pass
    try:
        import pyogrio

        drivers = pyogrio.list_drivers()
        facts["pyogrio"] = pyogrio.__gdal_version_string__
        facts["vector_drivers"] = [name for name in _VECTOR_DRIVERS if name in drivers]
    except ImportError:
        pass
    return facts


def _extensions() -> dict[str, dict[str, str | None]]:
    """Return what other packages add to each group, by name: None, or why it cannot be used."""
    found: dict[str, dict[str, str | None]] = {}
    for group in GROUPS:
        for name in extension_names(group):
            problem = None
            try:
                load_extension(group, name)
            except ExtensionError as error:
                problem = str(error)
            found.setdefault(group, {})[name] = problem
    return found


def _threads() -> dict[str, Any]:
    from diffclass._compiled.loops import allowed_threads

    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    return {"used": allowed_threads(), "processors": os.cpu_count(), "variables": variables}


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _compiled_loops() -> dict[str, Any]:
    from diffclass._compiled import loops

    folder = getattr(getattr(loops.share, "_cache", None), "cache_path", None)
    if folder is None:
        return {"folder": None}
    files = list(Path(folder).glob("*.nbc"))
    size = sum(file.stat().st_size for file in files)
    return {"folder": folder, "files": len(files), "bytes": size}


def _lines(facts: dict[str, Any]) -> list[str]:
    threads, loops, memory = facts["threads"], facts["compiled_loops"], facts["memory_bytes"]
    lines = [
        f"diffclass       {facts['diffclass']} in {facts['installed_in']}",
        f"Python          {facts['python']}",
        f"system          {facts['system']}",
        f"computes with   {_named(facts['computes_with'])}",
    ]
    for extra, packages in facts["extras"].items():
        lacks = [name for name, found in packages.items() if found is None]
        advice = f"; lacks {', '.join(lacks)}: pip install 'diffclass[{extra}]'" if lacks else ""
        there = {name: found for name, found in packages.items() if found is not None}
        lines.append(f"[{extra}]".ljust(16) + f"{_named(there) or 'not installed'}{advice}")
    gdal = facts["gdal"]
    drivers = [*gdal.get("raster_drivers", []), *gdal.get("vector_drivers", [])]
    versions = {name: gdal[name] for name in ("rasterio", "pyogrio") if name in gdal}
    lines.append(f"GDAL            {_named(versions) or 'not installed'}: {', '.join(drivers)}")
    for group, names in facts["extensions"].items():
        lines.append(f"added           {', '.join(names)} ({group})")
        lines += [f"                {problem}" for problem in names.values() if problem]
    given = "".join(f", {name}={value}" for name, value in threads["variables"].items())
    lines.append(f"threads         {threads['used']} of {threads['processors']} processors{given}")
    lines.append(f"memory          {'unknown' if memory is None else f'{memory / 2**30:.1f} GiB'}")
    if loops["folder"] is None:
        lines.append("compiled        nowhere: every start compiles again; set NUMBA_CACHE_DIR")
    else:
        lines.append(
            f"compiled        {loops['files']} loops, {loops['bytes'] / 2**20:.1f} MiB in "
            f"{loops['folder']}"
        )
    return [*lines, f"GPU             {facts['gpu']}"]


def _named(versions: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {found or 'missing'}" for name, found in versions.items())
