"""Public records of certificates; the method itself is in `slimline.learning`."""

from slimline.learning import Certificate, Step, TopFeatures, rank_bounds

__all__ = ["Certificate", "Step", "TopFeatures", "rank_bounds"]
