"""What is to be solved, without the data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """What is to be solved.

    Parameters
    ----------
    C : float
        As for the classifier.
    loss : str
        Name of the loss.
    tol : float
        Certified error to stop at.
    constant : float or "auto"
        Value of the constant column, as in `TrainingData`; 0: there is none.
    n_classes : int
        Two or more.
    n_samples : int
        Rows in all, of which the data at hand may be a sample.
    seed : int
        For the sample and the sketches.
    """

    C: float
    loss: str
    tol: float
    constant: float | str
    n_classes: int
    n_samples: int
    seed: int

    @property
    def n_tasks(self) -> int:
        """Return how many problems share the passes: one for two classes, else one a class."""
        return 1 if self.n_classes == 2 else self.n_classes
