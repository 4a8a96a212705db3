"""scikit-learn is imported without pandas and scipy.stats, and finds both once they are wanted."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

SPARED = "{'pandas', 'scipy.stats'} & {*sys.modules}"


def said(code, **options):
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True, **options)
    return done.stdout.splitlines()


def test_what_is_spared_comes_where_it_is_used():
    pytest.importorskip("pandas")
    code = (
        "import sys\n"
        "from diffclass.system import lean_imports\n"
        "lean_imports.install()\n"
        "from sklearn.utils import fixes, validation\n"
        f"print({SPARED} or 'neither')\n"
        "print(fixes._mode([1, 2, 2], axis=0).mode.max())\n"
        "import pandas\n"
        "print(validation._get_feature_names(pandas.DataFrame({'a': [1.0, 2.0]})))\n"
        "from scipy.stats import rankdata\n"
        "print(rankdata([3, 1]))"
    )
    assert said(code) == ["neither", "2", "['a']", "[2. 1.]"]


def test_what_is_there_already_stays():
    pytest.importorskip("pandas")
    code = (
        "import pandas, scipy.stats\n"
        "from diffclass.system import lean_imports\n"
        "lean_imports.install()\n"
        "from sklearn.utils import fixes\n"
        "print(fixes.pd is pandas, fixes.scipy.stats is scipy.stats, bool(scipy.stats.norm))"
    )
    assert said(code) == ["True True True"]


@pytest.mark.parametrize(
    "use",
    [
        "from scipy.stats import norm",
        "norm = scipy.stats.norm",
        "stats = sys.modules['scipy.stats']; stats.mode; norm = stats.norm",
    ],
)
def test_a_version_that_uses_statistics_at_once_finds_them(tmp_path, use):
    for package in ("sklearn", "sklearn/utils"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "sklearn" / "utils" / "fixes.py").write_text(
        f"import sys\nimport scipy.stats\n{use}"
    )
    code = (
        "import sys\n"
        "from diffclass.system import lean_imports\n"
        "lean_imports.install()\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from sklearn.utils.fixes import norm, scipy\n"
        "import scipy.stats as real\n"
        "print(norm.cdf(0), scipy.stats is real, real.norm is norm, real.__file__.count('stats'))"
    )
    assert said(code) == ["0.5 True True 1"]


def test_a_table_is_classified_without_them(tmp_path):
    X = np.random.default_rng(0).normal(size=(6000, 4))  # so many are not searched exactly
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", np.where(np.arange(6000) < 10, X[:, 0] > 0, -1))
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print({SPARED} or 'neither'))\n"
        "from diffclass.command_line.start import main\n"
        "main()"
    )
    words = ["classify", "X.npy", "--labels", "y.npy", "-o", "classes.npy"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "neither"
    assert len(np.load(tmp_path / "classes.npy")) == 6000
