"""Files of models: what is read is what was written, and a file can claim nothing it has not."""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from diffclass import DiffusionClassifier, StoppingRule, Warp
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import (
    DensityWeighted,
    Directed,
    Gaussian,
    Isotropic,
    Kernel,
    LocalCovariance,
    LocalDiscriminant,
    SharedNeighbors,
)
from diffclass.model_files import CLASSIFIER, read_model, write_model
from diffclass.model_files.archive import FORMAT, read_archive, write_archive
from diffclass.neighbors import ExactSearch, NNDescentSearch
from diffclass.system.forms import (
    Array,
    Listed,
    Maybe,
    Number,
    Parts,
    Record,
    Sparse,
    Whole,
)

KIND = "test"


def again(model, path):
    write_model(path, model, CLASSIFIER, kind=KIND, version="1.2")
    return read_model(path, CLASSIFIER, kind=KIND)


def rewritten(path, change, *, sums=True):
    """Write a file anew with a change of its manifest and arrays, with the right sums or not."""
    with zipfile.ZipFile(path) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(entries["manifest.json"])
    arrays = {
        name: np.lib.format.read_array(io.BytesIO(entries[f"arrays/{name}.npy"]))
        for name in manifest["arrays"]
    }
    change(manifest, arrays)
    if sums:
        write_archive(path, manifest["kind"], manifest["facts"], arrays, version="1")
    else:
        entries["manifest.json"] = json.dumps(manifest).encode()
        with zipfile.ZipFile(path, "w") as file:
            for name, data in entries.items():
                file.writestr(name, data)


@pytest.fixture
def points(rng):
    X = rng.normal(size=(240, 4)) + 4 * np.repeat(np.eye(4)[:3], 80, axis=0)
    y = np.where(np.arange(240) % 16, -1, 5 + np.arange(240) // 80)
    return X, y, rng.normal(size=(50, 4)) + 2


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_arrays_come_back(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("archive") / "a"
    kinds = st.sampled_from(["?", "i1", "u2", "<i4", ">i8", "f4", ">f8", "f2"])
    some = hnp.arrays(kinds, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    arrays = data.draw(st.dictionaries(st.sampled_from("abcd"), some))
    plain = st.none() | st.booleans() | st.integers() | st.text()
    deep = st.recursive(plain, lambda f: st.lists(f) | st.dictionaries(st.text(), f))
    facts = data.draw(deep)
    write_archive(path, KIND, facts, arrays, version="1")
    found, read = read_archive(path, KIND)
    assert found == facts
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(read[name], array)


def test_the_same_model_makes_the_same_file(tmp_path, points):
    X, y, _ = points
    for name in "ab":
        again(DiffusionClassifier(random_state=0).fit(X, y), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "given",
    [
        {}, {"kernel": Gaussian()}, {"kernel": Gaussian(bandwidth="attached")},
        {"kernel": Gaussian(bandwidth=2.0), "alpha": 0.5},
        {"kernel": SharedNeighbors(LocalCovariance(rank=2))}, {"kernel": DensityWeighted()},
        {"kernel": SharedNeighbors(Directed())}, {"kernel": Directed(scaled=False, epsilon=0.7)},
        {"kernel": SharedNeighbors(LocalCovariance(rank=2, normalized=False))},
        {"kernel": SharedNeighbors(LocalDiscriminant(discriminant="quadratic"))},
        {"kernel": SharedNeighbors(LocalDiscriminant(Directed()))},
        {"kernel": Directed(np.sin(np.arange(240.0)))},
        {"kernel": SharedNeighbors(Directed(np.arange(480).reshape(240, 2) % 7))},
        {"warp": Warp(rounds=2)}, {"join_features": True}, {"class_prior": [0.2, 0.3, 0.5]},
        {"class_prior": ([0.1, 0, 0.2], [0.5, 1, 1])},
        {"label_mode": "free-l1", "warp": Warp(floor=0, forward_exponent=0)},
        {"tau": 7}, {"tau": "margin"}, {"tau": StoppingRule("margin", max_time=40, kept_share=0.9)},
        {"tau": StoppingRule(covered=False)},
        {"search": ExactSearch(9)}, {"search": NNDescentSearch(8, random_state=3)},
    ],
    ids=str,
)  # fmt: skip
def test_a_classifier_answers_as_before(tmp_path, points, given):
    X, y, new = points
    model = DiffusionClassifier(random_state=0, **given).fit(X, y)
    found = again(model, tmp_path / "model")
    far = np.concatenate([new, 1e4 * new[:3]])
    for name in ("raw_predict_proba", "predict_proba", "predict", "predict_set"):
        np.testing.assert_array_equal(getattr(found, name)(far), getattr(model, name)(far))
    np.testing.assert_array_equal(
        found.raw_predict_with_novelty(far)[1], model.raw_predict_with_novelty(far)[1]
    )
    assert found.calibration_.to_dict() == model.calibration_.to_dict()
    assert repr(found.set_params(search=None)) == repr(model.set_params(search=None))
    with pytest.raises(AttributeError, match="new points only"):
        _ = found.label_distributions_


def kernels(base=Kernel):
    return {base}.union(*map(kernels, base.__subclasses__()))


def test_no_parameter_of_a_kernel_is_lost():
    for kind in kernels():
        parameters = set(inspect.signature(kind).parameters) - {"args", "kwargs"}
        kept = vars(kind).get("kept_fields")
        own = kind.__module__.startswith("diffclass.") and kept is not None
        assert not own or parameters == set(kept), kind


@pytest.mark.parametrize("F", [np.sin(np.arange(240.0)), np.arange(480).reshape(240, 2) % 7])
def test_values_given_to_a_kernel_come_back(tmp_path, points, F):
    X, y, _ = points
    model = DiffusionClassifier(kernel=Directed(F), random_state=0).fit(X, y)
    found = again(model, tmp_path / "model").kernel
    np.testing.assert_array_equal(found.F, F)
    assert not found.uses_scores


@pytest.mark.parametrize(
    "given",
    [
        {"kernel": Isotropic(np.ones_like, bandwidth=1.0)},
        {"kernel": SharedNeighbors(Directed(lambda X: X[:, 0]))},
        {"random_state": np.random.RandomState(0)}, {"affinity": "precomputed"},
    ],
    ids=["profile", "function", "state", "affinity"],
)  # fmt: skip
def test_what_cannot_be_kept_is_named(tmp_path, points, given):
    X, y, _ = points
    X = np.abs(X) + 1
    if "affinity" in given:
        X = Gaussian().affinity(ExactSearch(239).fit_transform(X).power(2), X)
    model = DiffusionClassifier(**given).fit(X, y)
    with pytest.raises(ParameterError, match=r"cannot be kept in a file: .* is (no|none of) "):
        again(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


# Damage


def test_every_byte_counts(tmp_path, rng):
    """Each change of one byte is refused, or leaves everything as it was."""
    path = tmp_path / "a"
    arrays = {"a": rng.normal(size=(5, 2)), "b": np.arange(3, dtype=np.int32)}
    write_archive(path, KIND, {"x": [1, 2.5, None]}, arrays, version="1")
    raw = path.read_bytes()
    refused = 0
    for place in range(len(raw)):
        for new in {raw[place] ^ 1, 0, 255} - {raw[place]}:
            path.write_bytes(raw[:place] + bytes([new]) + raw[place + 1 :])
            try:
                facts, read = read_archive(path, KIND)
            except DataError as error:
                assert "\n" not in str(error)  # noqa: PT017
                refused += 1
                continue
            assert facts == {"x": [1, 2.5, None]}
            for name, array in arrays.items():
                np.testing.assert_array_equal(read[name], array)
    assert refused > len(raw)
    for length in range(0, len(raw), 7):
        path.write_bytes(raw[:length])
        with pytest.raises(DataError):
            read_archive(path, KIND)


def bomb(path, arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(
            "manifest.json", json.dumps({"kind": KIND, "format": FORMAT, "arrays": arrays})
        )
        file.writestr("arrays/a.npy", bytes(200_000_000))


def claims(path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    sums = {"a": {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}}
    manifest = {"kind": KIND, "format": FORMAT, "diffclass": "0", "facts": {}, "arrays": sums}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("arrays/a.npy", data)
        file.writestr("manifest.json", json.dumps(manifest))


@pytest.mark.parametrize(
    "make",
    [
        lambda path: bomb(path, {"a": {}}),
        lambda path: claims(path, "(1000000000,)"),
        lambda path: claims(path, "(99999999999, 99999999999)"),
        lambda path: claims(path, "(100000, 0, -3)"),
        lambda path: path.write_bytes(b"\x80\x04\x95" + b"18 bytes, repeated" * 50_000),
    ],
)  # fmt: skip
def test_nothing_grows(tmp_path, make):
    """Whatever a file claims, no more is allocated than a few times its size."""
    path = tmp_path / "a"
    make(path)
    tracemalloc.start()
    with pytest.raises(DataError):
        read_archive(path, KIND)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * path.stat().st_size + 5_000_000


def test_other_files_and_versions(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(DataError, match="no such file"):
        read_archive(path, KIND)
    write_archive(path, KIND, {}, {}, version="1")
    with pytest.raises(DataError, match="holds a 'test', not a 'other'"):
        read_archive(path, "other")
    rewritten(path, lambda manifest, _: manifest.update(format=99), sums=False)
    with pytest.raises(DataError, match=rf"has format 99.*reads format {FORMAT}: save it again"):
        read_archive(path, KIND)


# Forms: what has the right sums, and still makes no sense


SOME = {"v": np.zeros(3), "m": np.zeros((3, 2)), "i": np.arange(3), "nan": np.array([1, np.nan])}


@pytest.mark.parametrize(
    ("form", "facts"),
    [
        (Whole(1, 9), 10), (Whole(), True), (Whole(), 1.0), (Number(), float("inf")),
        (Number(), float("nan")), (Number(), "1"), (Number(0, 1), 2), (Maybe(Whole()), "x"),
        (Listed(Whole()), 3), (Listed(Whole(), 3), [1, 2]), (Array(("n",)), "x"),
        (Array(("n",)), ["v"]), (Array((2, "n")), "m"), (Array(("n", "n")), "m"),
        (Array(("n",)), "m"), (Array(("n",)), "i"), (Array(("n",)), "nan"),
        (Record(dict, {"x": Whole()}), {"y": 1}), (Record(dict, {"x": Whole()}), []),
    ],
    ids=str,
)  # fmt: skip
def test_facts_that_do_not_fit(form, facts):
    with pytest.raises(
        ValueError, match=r"is no|has shape|names no|another type|has not the parts"
    ):
        form.restored(facts, Parts(dict(SOME)))


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 3, 1], np.int32)}, {"indices": np.array([0, -1, 1], np.int32)},
        {"indptr": np.array([0, 2, 1, 3], np.int32)}, {"indptr": np.array([0, 1, 2, 4], np.int32)},
        {"indptr": np.array([1, 1, 2, 3], np.int32)}, {"indptr": np.array([0, 3], np.int32)},
        {"data": np.ones(2)}, {"data": np.array([1, 2, np.inf])},
        {"indices": np.array([0, 1, 1], np.int64)}, {"indices": np.array([0.0, 1, 1])},
    ],
)  # fmt: skip
def test_sparse_matrices_point_inside(change):
    form = Record(dict, {"d": Array(("n",)), "s": Sparse(("n", "n"))})
    good = {"data": np.ones(3), "indices": np.array([0, 2, 1], np.int32),
            "indptr": np.array([0, 1, 2, 3], np.int32)}  # fmt: skip
    facts = {"d": "d", "s": {name: name for name in good}}
    found = form.restored(facts, Parts({"d": np.zeros(3), **good}))
    np.testing.assert_array_equal(found["s"].toarray(), np.eye(3)[[0, 2, 1]])
    assert isinstance(found["s"], sp.csr_array)
    with pytest.raises(ValueError, match="outside of it"):
        form.restored(facts, Parts({"d": np.zeros(3), **good, **change}))


@pytest.mark.parametrize("kernel", [None, SharedNeighbors(LocalDiscriminant(Directed()))])
def test_arrays_of_another_length_are_refused(tmp_path, points, kernel):
    """With the right sums: no array may be shorter than the numbers that point into it."""
    X, y, _ = points
    path = tmp_path / "model"
    again(DiffusionClassifier(kernel=kernel, random_state=0).fit(X, y), path)
    raw = path.read_bytes()
    names = read_archive(path, KIND)[1]
    n_free = 0
    for name, array in names.items():
        path.write_bytes(raw)
        rewritten(path, lambda _, arrays, n=name: arrays.update({n: arrays[n][:-1]}))
        try:
            read_model(path, CLASSIFIER, kind=KIND)
        except DataError:
            continue
        n_free += 1
        assert array.shape[0] != len(X)
    assert n_free <= 1  # the calibration's own probabilities


def test_classes_of_text_are_refused_in_words(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(np.arange(40) % 5, None, np.where(X[:, 0] > 0, "corn", "soy"))
    model = DiffusionClassifier(n_neighbors=5).fit(X, y)
    with pytest.raises(ParameterError, match="holds no numbers; fit numbers, as for classes"):
        write_model(tmp_path / "x.model", model, CLASSIFIER, kind="classifier", version="1.0")
