"""The tables of the guides are those of the CSV files, and the guides' links lead somewhere."""

from __future__ import annotations

import ast
import csv
import re

import pytest

from diffclass.blocks import BlockPlan
from diffclass.system.costs import Size
from experiments import tables
from experiments.coifman_2005 import kernels_ablation
from experiments.markdown import markdown_table, read_numbers, write_rows
from experiments.scaling import bench, million, spectrum, stability, whole_scene
from experiments.scaling.structure import code_lines, figures, functions

OWN_GUIDES = [
    path.relative_to(tables.ROOT).as_posix()
    for folder in (
        ".",
        ".github",
        "diffclass",
        "experiments",
        "experiments/results",
        "guide",
        "guide/tutorials",
        "plugins",
        "tests",
    )
    for path in sorted((tables.ROOT / folder).glob("*.md"))
]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def named_in(text):
    return re.findall(r"<!-- table: ([\w-]+), made by", text)


@pytest.mark.parametrize("guide", tables.GUIDES)
def test_committed_tables_are_those_of_the_csv_files(guide):
    text = (tables.ROOT / guide).read_text("utf-8")
    blocks = [found["name"] for found in tables.BLOCK.finditer(text)]
    assert blocks == named_in(text)  # none lacks its end
    assert tables.rewritten(text) == text, "run python -m experiments.tables"


def test_every_table_stands_in_a_guide():
    texts = [(tables.ROOT / guide).read_text("utf-8") for guide in tables.GUIDES]
    assert sorted(name for text in texts for name in named_in(text)) == sorted(tables.TABLES)


def test_an_unknown_table_is_an_error():
    with pytest.raises(KeyError, match="nonsense"):
        tables.rewritten("<!-- table: nonsense, made by nobody -->\n<!-- end of table -->\n")


def test_check_fails_where_a_guide_differs(tmp_path, monkeypatch, capsys):
    begin, end = "<!-- table: million, made by hand -->\n", "<!-- end of table -->\n"
    (tmp_path / "GUIDE.md").write_text(f"before\n{begin}old\n{end}after\n", "utf-8")
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    monkeypatch.setattr(tables, "GUIDES", ("GUIDE.md",))
    with pytest.raises(SystemExit, match=r"python -m experiments\.tables"):
        tables.main(["--check"])
    assert "old" in (tmp_path / "GUIDE.md").read_text("utf-8")
    tables.main([])
    tables.main(["--check"])
    assert capsys.readouterr().out.splitlines() == [
        "GUIDE.md: differs from its CSV files",
        "GUIDE.md: rewritten",
    ]
    text = (tmp_path / "GUIDE.md").read_text("utf-8")
    assert text.startswith(f"before\n{begin}\n| pixels |")
    assert text.endswith(f" |\n\n{end}after\n")


def anchors(text):
    """Return what links into a page may name: its headings, as they are written in addresses."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("guide", OWN_GUIDES)
def test_links_and_pictures_resolve(guide):
    path = tables.ROOT / guide
    text = path.read_text("utf-8")
    links = [link for link in LINK.findall(text) if not link[0].startswith("https:")]
    for target, anchor in links:
        file = (path.parent / target).resolve() if target else path
        assert file.is_file(), f"{guide} links to {target}"
        if anchor:
            assert anchor in anchors(file.read_text("utf-8")), f"{guide} links to #{anchor}"


def test_the_readme_is_short():
    assert (tables.ROOT / "README.md").stat().st_size <= 9_000


def figures_of_the_papers():
    """Yield script, result and seconds of each row of the figures' table."""
    text = (tables.ROOT / "experiments/results/figures.md").read_text("utf-8")
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 6 and cells[2].startswith("`"):
            yield cells[2].strip("`").replace(".", "/"), cells[4], cells[5]


GIVEN = {"coifman_2005/figure_1": {"0.001"}, "socher_2008/figure_1": {"0.8125"}}  # not measured


@pytest.mark.parametrize(("script", "result", "seconds"), [*figures_of_the_papers()])
def test_figures_of_the_papers_say_what_was_measured(script, result, seconds):
    assert (tables.ROOT / "experiments" / f"{script}.py").is_file()
    found = read_numbers(f"{script}.csv")
    assert float(seconds) == pytest.approx(found["seconds"], rel=0.06)
    kept = [abs(value) * unit for value in found.values() for unit in (1, 100)]
    for number in set(re.findall(r"\d+\.\d+", result)) - GIVEN.get(script, set()):
        half = 0.5001 * 10.0 ** -len(number.split(".")[1])
        assert any(abs(value - float(number)) <= half for value in kept), number


def test_all_figures_are_told():
    assert len({script for script, *_ in figures_of_the_papers()}) > 29


def test_every_figure_is_shown_once_and_small():
    text = (tables.ROOT / "experiments/results/figures.md").read_text("utf-8")
    for script, *_ in figures_of_the_papers():
        assert text.count(f"](../{script}.png)") == 1
        assert (tables.ROOT / "experiments" / f"{script}.png").stat().st_size < 250_000


def test_rows_are_written_with_four_digits(tmp_path):
    write_rows(tmp_path / "a.csv", [{"name": "a, b", "value": 1.23456}, {"name": "c", "value": 7}])
    with (tmp_path / "a.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["name", "value"], ["a, b", "1.235"], ["c", "7"]]
    assert markdown_table(["a"], [[1]]) == ["| a |", "| --- |", "| 1 |"]


def test_bench_becomes_a_row_for_each_number():
    found = {"n": 3, "product": {"ms": 2.5}, "powers": [{"n_steps": 16, "seconds": 1}], "s": "x"}
    assert list(bench.flat(found)) == [
        ("n", 3.0),
        ("product.ms", 2.5),
        ("powers.16.n_steps", 16.0),
        ("powers.16.seconds", 1.0),
    ]


STAGES = dict.fromkeys(whole_scene.STAGES, 1.234)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "whole_scene",
            whole_scene.csv_rows(
                {
                    "seconds": STAGES,
                    "accuracy": 0.97,
                    "spatial_seconds": STAGES,
                    "spatial_accuracy": 0.998,
                    "summed_seconds": STAGES,
                    "summed_accuracy": 0.96,
                    "graphlearning_seconds": {"graph": 1.0, "laplace": 2.0, "total": 3.0},
                    "graphlearning_accuracy": 0.9,
                    "neighbor_recall": 0.99,
                    "peak_memory_bytes": 2**30,
                }
            ),
        ),
        (
            "million",
            [
                million.csv_row(
                    10,
                    {
                        "seconds": STAGES | {"calibration": 1.0},
                        "peak_memory_bytes": 2**30,
                        "holdout": {"overall_accuracy": 0.9},
                    },
                )
            ],
        ),
        (
            "spectrum",
            spectrum.csv_rows(
                {
                    "seconds": {"diffclass": 7.0, "amg": 7.6},
                    "residuals": {"diffclass": 1e-6, "amg": 1e-3},
                    "eigenvalues_off": {"amg": 2e-5},
                    "semigroup_seconds": 30.0,
                    "semigroup_scales": 18,
                }
            ),
        ),
    ],
)
def test_scripts_write_the_columns_that_the_tables_read(name, rows):
    path = tables.ROOT / "experiments" / "scaling" / f"{name}.csv"
    with path.open(newline="") as file:
        kept = list(csv.DictReader(file))
    assert [list(row) for row in rows] == [list(kept[0])] * len(rows)
    key = next(iter(kept[0]))
    if name != "million":  # its rows are the scenes' sizes
        assert {row[key] for row in rows} == {row[key] for row in kept}


def test_structure_counts_code_without_docstrings():
    tree = ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n')
    (function,) = functions(tree)
    assert code_lines(function) == 2
    found = figures(tables.ROOT)
    assert found["files"] > 100
    assert found["import arrows"] > found["files"]


def test_rows_of_a_problem_replace_those_it_had():
    old = [
        {"problem": name, "run": "old"}
        for name in ("digits", "MNIST", "8-bit Indian Pines, spatial")
    ]
    new = [{"problem": name, "run": "new"} for name in ("Salinas-A, spectral", "MNIST")]
    found = [(row["problem"], row["run"]) for row in kernels_ablation.merged(old, new)]
    assert found == [
        ("digits", "old"),
        ("MNIST", "new"),
        ("Salinas-A, spectral", "new"),
        ("8-bit Indian Pines, spatial", "old"),
    ]


@pytest.mark.parametrize(("n_points", "n_blocks"), [(200_000, 4), (21_000, 2.1), (9_000, 1)])
def test_the_memory_of_the_stability_table_is_for_about_four_blocks(n_points, n_blocks):
    size = Size(n_points, 20, 12, 6)
    plan = BlockPlan.within(stability.memory_for(size), size)
    assert n_points / plan.block_points == pytest.approx(n_blocks, rel=0.2)
