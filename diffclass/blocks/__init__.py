"""Graphs and label diffusion in blocks: beyond memory, and over several machines.

Partition (`partition`, `cell_bins`), storage (`scratch`, `arrays`) and engines (`engine`,
`dask_engine`) are this chapter's own; all else runs the functions of the other chapters on the rows
of a block. The way of the data is that of `diffclass.graph` and
`diffclass.label_diffusion`, cut into blocks of near points that one process holds at a time::

    points        (n, p) on disk
      -> cells        a tree over a sample; a block is the points of some cells, next to one another
      -> neighbors    each block is searched with its overlap, near points of others
      -> affinities   of a block's rows, with the rows of the neighbours that lie in other blocks
      -> operator     rows of a block; columns are its own points, then ghosts of other blocks
           -> walk        a step is a product within each block and an exchange of ghosts
           -> tau, map    margin, cut and coverage are sums over the blocks

A *place* is the number of a point in the order of the blocks: block b holds the places from
``starts[b]`` to ``starts[b + 1]``. What a stage makes lies in a `Scratch` folder, as `BlockArrays`
that are cut at the blocks. The next stage, another process or a resumed run reads it there. An
`Engine` runs the work on blocks, here or on the workers of a dask cluster; the results are the
same.
"""

from diffclass.blocks.arrays import BlockArrays
from diffclass.blocks.block_classifier import BlockClassifier
from diffclass.blocks.block_diffusion import BlockDiffusion, diffuse_in_blocks
from diffclass.blocks.build import build_operator, graph_identity
from diffclass.blocks.dask_engine import cluster_at, require_distributed
from diffclass.blocks.engine import Engine, SerialEngine
from diffclass.blocks.operator import BlockOperator, OperatorBlock
from diffclass.blocks.plan import BlockPlan, scratch_costs
from diffclass.blocks.scratch import JOB, Scratch, room_in
from diffclass.blocks.stage_records import ScratchError

__all__ = [
    "JOB",
    "BlockArrays",
    "BlockClassifier",
    "BlockDiffusion",
    "BlockOperator",
    "BlockPlan",
    "Engine",
    "OperatorBlock",
    "Scratch",
    "ScratchError",
    "SerialEngine",
    "build_operator",
    "cluster_at",
    "diffuse_in_blocks",
    "graph_identity",
    "require_distributed",
    "room_in",
    "scratch_costs",
]
