"""What jobs are asked in Python is checked as the commands check it, before anything is read."""

from __future__ import annotations

import importlib
import inspect
from fractions import Fraction

import click
import numpy as np
import pytest

import diffclass.jobs
import diffclass_hyperspectral
import diffclass_tables
from diffclass.exceptions import ParameterError
from diffclass.options import Number, OneOf, Text, Texts, Whole, YesNo

PACKAGES = (diffclass_hyperspectral, diffclass_tables)
Holdout = diffclass.jobs.Holdout  # the job of all classifications
JOBS = {  # of each command, with options that have another name in Python
    "diffclass_hyperspectral": {
        "anomaly": ("scene_anomalies",),
        "classify": ("Cleanup", "Holdout", "SceneFeatures", "classify_scene", "write_maps"),
        "cluster": ("SceneFeatures",),
        "embed": ("SceneFeatures",),
        "evaluate": ("evaluate_map",),
        "suggest": ("SceneFeatures", "suggest_for_scene", "validation_design"),
    },
    "diffclass_tables": {
        "anomaly": ("open_table", "Rows"),
        "classify": ("classify_rows", "open_table", "Rows"),
        "cluster": ("open_table", "Rows"),
        "embed": ("open_table", "Rows"),
        "suggest": ("open_table", "Rows"),
    },
}
OTHER_NAMES = {
    "holdout": "kind", "number": "n_points", "for_validation": "n_points",
    "components": "n_components", "dimensions": "n_components",
}  # fmt: skip
WORDS = (
    *("", "a", "-1", "0", "1", "2", "3", "0.5", "1.5", "nan", "inf", "-inf", "1e400", "True"),
    *("random", "Random", "both", "names", "NAMES", "overlap", "rx", "RX", "angle", "cosine"),
    *("margin", "coverage", "Coverage", "kmeans", "4294967295", "4294967296", "no", " "),
)
PLAIN = {"bool", "int", "float", "str", "Sequence[str]"}
NO_OPTION = {"crs", "source"}  # texts that are looked up in files and catalogues


class Untouched:
    """What no job may look at before its options are checked."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was read before the options were checked")


def jobs(package):
    """Return the public functions of a package, and the classes that hold options of jobs."""
    found = {name: getattr(package, name) for name in package.__all__} | {"Holdout": Holdout}
    classes = {"Cleanup", "Holdout", "Rows", "SceneFeatures"}
    return {n: job for n, job in found.items() if inspect.isfunction(job) or n in classes}


def domains(job):
    """Return the domain of each option of a job."""
    package = job.__module__.partition(".")[0]
    home = importlib.import_module(job.__module__ if job is Holdout else f"{package}.options")
    return {p.name: home.OPTIONS[p.name] for p in plain_parameters(job)}


def plain_parameters(job):
    """Return the parameters that are no arrays, objects and files."""
    return [
        parameter
        for parameter in inspect.signature(job).parameters.values()
        if str(parameter.annotation).removesuffix(" | None") in PLAIN
        and parameter.name not in NO_OPTION
    ]


def asked():
    """Return each option of each job with its domain."""
    return [
        pytest.param(job, parameter, domains(job)[parameter.name], id=f"{name}-{parameter.name}")
        for package in PACKAGES
        for name, job in jobs(package).items()
        for parameter in plain_parameters(job)
    ]


def is_refused(job, name, value):
    """Tell whether a job refuses a value by its name, having looked at nothing else."""
    parameters = inspect.signature(job).parameters.values()
    given = {p.name: Untouched() for p in parameters if p.default is inspect.Parameter.empty}
    given |= {other: right_and_wrong(domain)[0][0] for other, domain in domains(job).items()}
    try:
        found = job(**{**given, name: value})
        if hasattr(found, "check_parameters"):
            found.check_parameters()
    except ParameterError as error:
        return str(error).startswith(f"{name} = ")
    except (AssertionError, TypeError):
        pass  # the option was let in
    return False


def right_and_wrong(domain):
    """Return values that a domain has, and others."""
    wrong = [object(), [], {}, b"a", np.zeros(2), "bogus", 1j]
    if isinstance(domain, YesNo):
        return [True, False, np.True_], [*wrong, "no", "yes", "True", "", 0, 1, 1.0, np.int64(1)]
    if isinstance(domain, Whole):
        right = [domain.least, np.int64(domain.least), np.uint8(domain.least), domain.least + 2]
        right += [] if domain.most is None else [domain.most]
        beyond = [domain.least - 1] + ([] if domain.most is None else [domain.most + 1])
        beyond += [domain.least + 1] if domain.is_odd else []
        not_whole = ["", "3", True, np.True_, 1.5, 1.0, float("nan"), float("inf")]
        return right, [*wrong, *beyond, *not_whole]
    if isinstance(domain, Number):
        ends = [domain.least] + ([] if domain.most is None else [domain.most])
        right = [0.5, np.float32(0.5), np.float64(0.5), Fraction(1, 2)]
        right += [] if domain.is_open else [*ends, domain.least - 0.0]
        beyond = [-1, -1e-300, *([] if domain.most is None else [1.0001, 2, 10**400])]
        beyond += ends if domain.is_open else []
        no_number = ["", "0.5", True, float("nan"), float("inf"), -float("inf"), np.float32("nan")]
        return right, [*wrong, *beyond, *no_number]
    if isinstance(domain, OneOf):
        right = [*domain.names, *map(np.str_, domain.names)]
        others = [f(word) for word in domain.names for f in (str.upper, str.title, str.encode)]
        return right, [*wrong, *others, "", domain.names[0] + " ", 0, 1, True, float("nan")]
    wrong = [object(), b"a", np.zeros(2), 0, 1.5, True, {}]
    if isinstance(domain, Text):
        return ["a", np.str_("a")], [*wrong, [], ["a"]]
    assert isinstance(domain, Texts)
    return [(), ["a"], np.array(["a"]), {"a"}], [*wrong, "a", [0], [None], ["a", b"b"]]


@pytest.mark.parametrize(("job", "parameter", "domain"), asked())
def test_wrong_values_are_refused_by_name_and_right_ones_let_in(job, parameter, domain):
    right, wrong = right_and_wrong(domain)
    (right if parameter.default is None else wrong).append(None)
    assert [value for value in wrong if not is_refused(job, parameter.name, value)] == []
    assert [value for value in right if is_refused(job, parameter.name, value)] == []


@pytest.mark.parametrize(("job", "parameter", "domain"), asked())
def test_only_what_has_no_value_by_default_may_be_none(job, parameter, domain):
    assert domain.or_none == (parameter.default is None)
    assert str(parameter.annotation).endswith(" | None") == domain.or_none


def options_of_commands():
    """Return each option of a command that is one of its jobs in Python too."""
    for package in PACKAGES:
        for name, its_jobs in JOBS[package.__name__].items():
            home = importlib.import_module(f"{package.__name__}.commands.{name}")
            for option in getattr(home, name).params:
                in_python = OTHER_NAMES.get(option.name, option.name)
                for job in (jobs(package)[one] for one in its_jobs):
                    if in_python in domains(job) and not isinstance(option.type, click.Path):
                        yield pytest.param(
                            job, in_python, option,
                            id=f"{package.__name__}-{name}-{option.name}-{job.__name__}",
                        )  # fmt: skip


def meant(word):
    """Return the number that a word of a command line is, or the word."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


@pytest.mark.parametrize(("job", "name", "option"), list(options_of_commands()))
def test_a_command_and_its_job_refuse_the_same(job, name, option):
    context = click.Context(click.Command("any"))
    for word in WORDS:
        if option.is_flag:
            assert is_refused(job, name, word)
            continue
        try:
            taken = option.type_cast_value(context, [word] if option.multiple else word)
        except click.BadParameter:
            assert is_refused(job, name, meant(word)), word
        else:
            assert not is_refused(job, name, taken), word


def test_long_values_are_named_by_their_type():
    with pytest.raises(
        ParameterError, match=r"^random_state = an object of numpy\.ndarray; it has to be"
    ):
        diffclass_tables.Rows(Untouched(), random_state=np.arange(100.0))
