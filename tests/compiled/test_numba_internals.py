"""What diffclass takes from Numba, undocumented: a test that fails says what Numba has changed."""

from __future__ import annotations

import re
from pathlib import Path

import numba
import numpy as np

import diffclass
from diffclass._compiled import _numba_internals
from diffclass._compiled._numba_internals import NothingOverlaps, cache_folder, keep_compiled

CHANGED = f"Numba {numba.__version__} differs, see diffclass/_compiled/_numba_internals.py: "


class FilesInMemory:
    """Compiled versions in a dict, and a count of what was compiled."""

    def __init__(self, kept):
        self.folder = Path("somewhere")
        self.kept, self.n_compiled = kept, 0

    def read(self, key):
        return self.kept.get(key)

    def write(self, key, content):
        self.kept[key] = content

    def will_compile(self):
        self.n_compiled += 1


def doubled(x, out):
    for i in range(x.shape[0]):
        out[i] = 2 * x[i]


def run(kept):
    """Compile `doubled`, or load it; return how often it was compiled and its result."""
    loop, files = numba.njit(doubled), FilesInMemory(kept)
    keep_compiled(loop, files)
    loop(np.arange(3.0), out := np.zeros(3))
    return files.n_compiled, out.tolist()


def test_only_one_file_knows_what_numba_does_not_document():
    private = re.compile(r"numba\.(core|np|misc)\b|\bnumba\._(?!_)|\._cache =")
    sources = Path(diffclass.__file__).parent.rglob("*.py")
    found = {path.name for path in sources if private.search(path.read_text("utf-8"))}
    assert found == {"_numba_internals.py"}


def test_a_dispatcher_asks_its_cache_and_tells_it():
    kept = {}
    assert run(kept) == (1, [0, 2, 4]), CHANGED + "no dispatcher asks `_cache.load_overload`"
    assert len(kept) == 1, CHANGED + "no dispatcher tells `_cache.save_overload`"
    assert len(next(iter(kept.values()))) > 0, CHANGED + "`reduce` gives nothing"


def test_what_is_kept_is_rebuilt():
    kept = {}
    run(kept)
    assert run(kept) == (0, [0, 2, 4]), CHANGED + "`CompileResultCacheImpl.rebuild` or `reduce`"
    spoilt = dict.fromkeys(kept, b"no pickle")
    assert run(spoilt) == (1, [0, 2, 4])


def test_keys_tell_signatures_and_processors_apart():
    kept = {}
    loop = numba.njit(doubled)
    keep_compiled(loop, FilesInMemory(kept))
    for dtype in (np.float32, np.float64):
        loop(np.ones(2, dtype), np.zeros(2, dtype))
    assert len(kept) == 2, CHANGED + "the signature that `save_overload` gets"
    processor = numba.core.registry.cpu_target.target_context.codegen().magic_tuple()
    assert all(repr(processor) in key for key in kept), CHANGED + "`codegen.magic_tuple`"


def test_numba_chooses_a_folder():
    folder = cache_folder(doubled)
    assert isinstance(folder, Path), CHANGED + "`CompileResultCacheImpl.locator.get_cache_path`"


def test_without_a_folder_there_is_none(monkeypatch):
    def refuse(function):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(_numba_internals, "CompileResultCacheImpl", refuse)
    assert cache_folder(doubled) is None


def test_arguments_do_not_overlap():
    loop = numba.njit(doubled, pipeline_class=NothingOverlaps)
    loop(np.ones(2), np.zeros(2))
    (code,) = loop.inspect_llvm().values()
    assert re.search(r"ptr noalias[^,]* %arg\.x\.4", code), (
        CHANGED + "`Compiler.define_pipelines`, or the flag `noalias`"
    )
