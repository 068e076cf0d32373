"""The paper's theorem as numbers: how far the learned concept can be from the true one.

>>> from dfop.theory import certify, run_experiment, draw_experiment

`certify` follows a stream and gives Theorem 2 and its sharper forms C0 to C3; `theorem2` does it
from summary numbers, `certify_learner` from a learner's own estimates. `balancing_mu`,
`effective_sample_size`, `forgetting_time` help to choose ``mu``. Lemmas 1 to 3, those of the
supplement and Theorem 1 are there to be executed. `run_experiment` measures how often the
certificates hold and `draw_experiment` shows it.
"""

from .bounds import Parts, theorem2, theorem2_sharp
from .certificates import ASSUMPTIONS, Certificates, certify
from .concentration import (
    TailCheck,
    check_theorem1,
    quadratic_radius,
    sharp_radius,
    theorem1_radius,
    theorem1_tail,
)
from .experiment import SETTINGS, Outcome, Setting, run_experiment
from .figure import draw_experiment
from .fitted import NoiseAndDrift, certify_learner, noise_and_drift
from .lemmas import (
    Lemma2Sides,
    lemma1_gamma,
    lemma1_gamma_of,
    lemma2_sides,
    lemma3_bound,
    lemma3_sigma,
    normal_light_tail,
)
from .scale import to_dfop_scale, to_gdfop_scale
from .supplement import Inversion, Sides, inversion_sides, norm_sides, square_sides
from .tuning import (
    balancing_mu,
    best_mu,
    effective_sample_size,
    forgetting_time,
    start_forgotten,
    steady_state,
)

__all__ = [
    "ASSUMPTIONS",
    "SETTINGS",
    "Certificates",
    "Inversion",
    "Lemma2Sides",
    "NoiseAndDrift",
    "Outcome",
    "Parts",
    "Setting",
    "Sides",
    "TailCheck",
    "balancing_mu",
    "best_mu",
    "certify",
    "certify_learner",
    "check_theorem1",
    "draw_experiment",
    "effective_sample_size",
    "forgetting_time",
    "inversion_sides",
    "lemma1_gamma",
    "lemma1_gamma_of",
    "lemma2_sides",
    "lemma3_bound",
    "lemma3_sigma",
    "noise_and_drift",
    "norm_sides",
    "normal_light_tail",
    "quadratic_radius",
    "run_experiment",
    "sharp_radius",
    "square_sides",
    "start_forgotten",
    "steady_state",
    "theorem1_radius",
    "theorem1_tail",
    "theorem2",
    "theorem2_sharp",
    "to_dfop_scale",
    "to_gdfop_scale",
]
