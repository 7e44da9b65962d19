"""Arithmetic and comparisons as neurons: pure tensor functions over intervals of numbers. Knows no graph.

`Term` is arithmetic over the numbers of an instance, `Comparison` a relation between two terms; both go upward by
interval arithmetic and downward by contraction, row by row, in float64.
"""

from __future__ import annotations

from lnnkit.numeric.comparison import Comparison as Comparison
from lnnkit.numeric.comparison import Response as Response
from lnnkit.numeric.frozen import gated_product as gated_product
from lnnkit.numeric.frozen import linear as linear
from lnnkit.numeric.frozen import power_product as power_product
from lnnkit.numeric.informing import informing as informing
from lnnkit.numeric.interval import Contraction as Contraction
from lnnkit.numeric.interval import Interval as Interval
from lnnkit.numeric.interval import point as point
from lnnkit.numeric.interval import rises as rises
from lnnkit.numeric.interval import same as same
from lnnkit.numeric.interval import unknown as unknown
from lnnkit.numeric.relation import Fixed as Fixed
from lnnkit.numeric.relation import Learned as Learned
from lnnkit.numeric.relation import Relation as Relation
from lnnkit.numeric.relation import Sign as Sign
from lnnkit.numeric.steps import Apply as Apply
from lnnkit.numeric.steps import Constant as Constant
from lnnkit.numeric.steps import Number as Number
from lnnkit.numeric.steps import Operation as Operation
from lnnkit.numeric.steps import Step as Step
from lnnkit.numeric.term import Term as Term
from lnnkit.numeric.term import apply as apply
from lnnkit.numeric.term import constant as constant
from lnnkit.numeric.term import number as number
from lnnkit.numeric.term import undetermined as undetermined
