"""The five documents, and one that they quote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from slimline.bounds._numerics import Flags, Values, checked_size, largest_float, real_numbers, smallest_float
from slimline.errors import InvalidParameterError

UML2014 = "Shalev-Shwartz and Ben-David, Understanding Machine Learning (2014)"
SHI2012 = "Shi, Shen, Hill and van den Hengel, Is margin preserved after random projection? (ICML 2012)"
FARD2012 = "Milani Fard, Grinberg, Pineau and Precup, Random projections preserve linearity in sparse spaces (2012)"
PAUL2013 = "Paul, Boutsidis, Magdon-Ismail and Drineas, Random projections for support vector machines (AISTATS 2013)"
VASWANI2013 = "Vaswani, Optimal weight recovery under random projections (2013)"
BALCAN2006 = "Balcan, Blum and Vempala, Kernels as features (Machine Learning 65, 2006)"

#: The five, by short name.
FULL_NAMES = {
    "shi2012": SHI2012,
    "uml2014": UML2014,
    "fard2012": FARD2012,
    "paul2013": PAUL2013,
    "vaswani2013": VASWANI2013,
}


_TINY = float(np.nextafter(0.0, 1.0))
_SMALL = 1e-300  # where searches for eps start
_LARGEST = 2.0**62


class Interval(NamedTuple):
    """Interval of a quantity after the projection; infinite on a side about which the statement says nothing.

    Parameters
    ----------
    lower, upper : float or ndarray
        The ends.
    """

    lower: Any
    upper: Any


@dataclass(frozen=True)
class Bound:
    """Theorem that gives a sufficient number of dimensions.

    Arguments broadcast, and scalars give scalars. An argument outside the theorem's domain is an error.

    Parameters
    ----------
    name : str
        Document and number, such as "shi2012.6".
    source : str
        Document, and theorem in it.
    statement : str
        What holds, in one sentence.
    formula : callable
        The dimension, a real number, from eps, delta (unless no probability is named) and sizes.
    assumptions : tuple of str
        Assumptions beside the domain of the arguments.
    kept : callable, optional
        The interval that is guaranteed afterwards, from eps and the quantity before.
    about : str
        The quantity that the interval contains.
    eps_below : float
        The domain of eps is (0, eps_below).
    eps_closed : bool
        Whether the domain includes that end.
    exact : callable, optional
        The smallest dimension for the same claim by the exact law of a Gaussian R.
    erratum : str, optional
        The error in print.
    printed : Bound, optional
        The statement as printed, if this one repairs it.
    as_printed : bool
        Whether the statement is here only because it is printed: it is false, or its document does not prove it.
    order_only : bool
        Whether the statement is an O(·): the dimension is the expression inside it, with the constant 1.
    asymptotic : bool
        Whether it holds only in the limit of large sizes.

    See Also
    --------
    get : A bound by its name.
    slimline.laws.Law : The exact laws, where they are known.

    Notes
    -----
    A bound states: if r ≥ r(ε, δ, sizes), then an event has a probability of at least 1 - δ. `dimension` evaluates
    r(ε, δ, sizes), `eps` and `delta` are its inverses, and `guarantee` gives the interval that the event promises.
    Names begin with the document: `shi2012` [1]_, `uml2014` [2]_, `fard2012` [3]_, `paul2013` [4]_, `vaswani2013` [5]_,
    `balcan2006` [6]_ as quoted in [1]_, eq. (2).

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.
    .. [2] Shalev-Shwartz, S.; Ben-David, S. (2014). "Understanding machine learning." Cambridge University Press.
    .. [3] Milani Fard, M.; Grinberg, Y.; Pineau, J.; Precup, D. (2012). "Random projections preserve linearity in
       sparse spaces." McGill University.
    .. [4] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.
    .. [5] Vaswani, S. (2013). "Optimal weight recovery under random projections." University of British Columbia.
    .. [6] Balcan, M.-F.; Blum, A.; Vempala, S. (2006). "Kernels as features: on kernels, margins, and low-dimensional
       mappings." Machine Learning 65, 79-94.
    """

    name: str
    source: str
    statement: str
    formula: Callable[..., Values]
    assumptions: tuple[str, ...] = ()
    kept: Callable[..., tuple[Values, Values]] | None = None
    about: str = ""
    eps_below: float = 1.0
    eps_closed: bool = False
    exact: Callable[..., Any] | None = None
    erratum: str | None = None
    printed: Bound | None = None
    as_printed: bool = False
    order_only: bool = False
    asymptotic: bool = False

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Names of the sizes that the dimension depends on and that have no default."""
        return _required_names(self.formula)

    @cached_property
    def needs_eps(self) -> bool:
        """True if the statement names a distortion."""
        return "eps" in signature(self.formula).parameters

    @cached_property
    def needs_delta(self) -> bool:
        """True if the statement names a probability."""
        return "delta" in signature(self.formula).parameters

    @cached_property
    def guarantee_needs(self) -> tuple[str, ...]:
        """Names of what the guarantee depends on, beside eps."""
        return _required_names(self.kept) if self.kept else ()

    @cached_property
    def exact_needs(self) -> tuple[str, ...]:
        """Names of what the exact law depends on, beside eps and delta."""
        return _required_names(self.exact) if self.exact else ()

    def required(self, eps: npt.ArrayLike | None = None, delta: npt.ArrayLike | None = None, **sizes: Any) -> Any:
        """Return the dimension that the formula gives, before it is rounded up.

        Parameters
        ----------
        eps, delta : array-like, optional
            Distortion, and failure probability in (0, 1). Only a statement that does not name it can do without.
        **sizes : array-like
            What `needs` lists.

        Returns
        -------
        dimension : float or ndarray
            Real.
        """
        return _scalar(self._real(self._eps(eps), self._delta(delta), self._sizes(self.formula, sizes)))

    def dimension(self, eps: npt.ArrayLike | None = None, delta: npt.ArrayLike | None = None, **sizes: Any) -> Any:
        """Return the number of dimensions that the theorem asks for.

        Parameters
        ----------
        eps, delta : array-like, optional
            Distortion, and failure probability in (0, 1). Only a statement that does not name it can do without.
        **sizes : array-like
            What `needs` lists.

        Returns
        -------
        r : int or ndarray of int
            At least 1.
        """
        real = np.maximum(np.ceil(np.asarray(self.required(eps, delta, **sizes))), 1.0)
        if np.any(real > _LARGEST):
            raise InvalidParameterError(f"{self.name} asks for more than 2⁶² dimensions: allow a larger eps or delta.")
        whole = real.astype(np.int64)
        return whole if whole.ndim else int(whole)

    def eps(self, r: npt.ArrayLike, delta: npt.ArrayLike | None = None, **sizes: Any) -> Any:
        """Return the smallest distortion that r dimensions promise.

        Parameters
        ----------
        r : array-like
            Dimensions.
        delta : array-like, optional
            Failure probability, in (0, 1).
        **sizes : array-like
            What `needs` lists.

        Returns
        -------
        eps : float or ndarray
            NaN where r is too small for any eps of the domain.
        """
        if not self.needs_eps:
            raise InvalidParameterError(f"{self.name} names no distortion, so that there is no eps to ask for.")
        wanted, chance, given = self._dimensions(r), self._delta(delta), self._sizes(self.formula, sizes)
        shape = _shape(wanted, chance, *given.values())

        def met(value: Values) -> Flags:
            return np.asarray(self._real(value, chance, given) <= wanted)

        return _scalar(smallest_float(met, np.full(shape, _SMALL), np.full(shape, self._largest_eps)))

    def delta(self, r: npt.ArrayLike, eps: npt.ArrayLike, **sizes: Any) -> Any:
        """Return the failure probability that the theorem allows with r dimensions.

        Parameters
        ----------
        r : array-like
            Dimensions.
        eps : array-like
            Distortion.
        **sizes : array-like
            What `needs` lists.

        Returns
        -------
        delta : float or ndarray
            1 where the theorem says nothing.
        """
        if not self.needs_delta:
            raise InvalidParameterError(f"{self.name} names no probability, so that there is no delta to ask for.")
        wanted, distortion, given = self._dimensions(r), self._eps(eps), self._sizes(self.formula, sizes)
        shape = _shape(wanted, distortion, *given.values())

        def met(value: Values) -> Flags:
            return np.asarray(self._real(distortion, value, given) <= wanted)

        found = smallest_float(met, np.full(shape, _TINY), np.full(shape, np.nextafter(1.0, 0.0)))
        return _scalar(np.where(np.isnan(found), 1.0, found))

    def guarantee(self, eps: npt.ArrayLike, **before: Any) -> Interval:
        """Return what holds after the projection.

        Parameters
        ----------
        eps : array-like
            Distortion.
        **before : array-like
            What `guarantee_needs` lists, such as the margin that the data had.

        Returns
        -------
        interval : Interval
            Of what `about` says.
        """
        if self.kept is None:
            raise InvalidParameterError(f"{self.name} has no guarantee in numbers: {self.statement}")
        distortion, given = self._eps(eps), self._sizes(self.kept, before)
        shape = _shape(distortion, *given.values())
        lower, upper = (np.array(np.broadcast_to(end, shape)) for end in self.kept(distortion, **given))
        return Interval(_scalar(lower), _scalar(upper))

    def eps_keeping(self, lower: npt.ArrayLike, **before: Any) -> Any:
        """Return the largest distortion that still guarantees so much.

        Parameters
        ----------
        lower : array-like
            The smallest value wanted of what `about` says, such as the margin that is to remain.
        **before : array-like
            What `guarantee_needs` lists, such as the margin that the data had.

        Returns
        -------
        eps : float or ndarray
            NaN where none does.
        """
        if self.kept is None:
            raise InvalidParameterError(f"{self.name} has no guarantee in numbers: {self.statement}")
        kept, given = self.kept, self._sizes(self.kept, before)
        wanted = real_numbers(self.name, "lower", lower)
        if np.any(np.isnan(wanted)):
            raise InvalidParameterError(f"(what is to remain, for {self.name}) must be a number; got nan.", "lower")
        shape = _shape(wanted, *given.values())

        def met(value: Values) -> Flags:
            return np.broadcast_to(kept(value, **given)[0] >= wanted, shape)

        return _scalar(largest_float(met, np.full(shape, _SMALL), np.full(shape, self._largest_eps)))

    def exact_dimension(self, eps: npt.ArrayLike, delta: npt.ArrayLike, **sizes: Any) -> Any:
        """Return the smallest r for the same claim by the exact law of a Gaussian R.

        Parameters
        ----------
        eps : array-like
            Distortion.
        delta : array-like
            Failure probability, in (0, 1).
        **sizes : array-like
            What `exact_needs` lists: the exact law of a cosine depends on that cosine.

        Returns
        -------
        r : int or ndarray of int
            With a union over the points, where there are several.
        """
        if self.exact is None:
            raise InvalidParameterError(f"{self.name}: no exact law is known for what it claims.")
        distortion, chance, given = self._eps(eps), self._delta(delta, always=True), self._sizes(self.exact, sizes)
        _shape(distortion, chance, *given.values())
        return self.exact(distortion, chance, **given)

    @property
    def _largest_eps(self) -> float:
        end = min(self.eps_below, float(np.finfo(np.float64).max))
        return end if self.eps_closed else float(np.nextafter(end, 0.0))

    def _real(self, eps: Values | None, delta: Values | None, sizes: dict[str, Any]) -> Values:
        shape = _shape(eps, delta, *sizes.values())
        distortion = {"eps": eps} if self.needs_eps else {}
        chance = {"delta": delta} if self.needs_delta else {}
        with np.errstate(over="ignore", divide="ignore"):
            return np.array(np.broadcast_to(self.formula(**distortion, **chance, **sizes), shape), dtype=np.float64)

    def _eps(self, eps: npt.ArrayLike | None) -> Values | None:
        domain = f"(0, {self.eps_below:.6g}{']' if self.eps_closed else ')'}"
        if eps is None:
            if self.needs_eps:
                raise InvalidParameterError(f"must be given for {self.name}, in {domain}.", "eps")
            return None
        given = real_numbers(self.name, "eps", eps)
        good = (given > 0) & (given <= self._largest_eps)
        if not np.all(good):
            wrong = float(given[~good].ravel()[0])
            raise InvalidParameterError(f"must lie in {domain} for {self.name}; got {wrong:.6g}.", "eps", wrong)
        return given

    def _delta(self, delta: npt.ArrayLike | None, always: bool = False) -> Values | None:
        if delta is None:
            if self.needs_delta or always:
                raise InvalidParameterError(f"(failure probability) must be given for {self.name}, in (0, 1).", "delta")
            return None
        given = real_numbers(self.name, "delta", delta)
        good = (given > 0) & (given < 1)
        if not np.all(good):
            wrong = float(given[~good].ravel()[0])
            raise InvalidParameterError(f"(failure probability) must lie in (0, 1); got {wrong:g}.", "delta", wrong)
        return given

    def _dimensions(self, r: npt.ArrayLike) -> Values:
        given = real_numbers(self.name, "r", r)
        if not np.all((given > 0) & np.isfinite(given)):
            raise InvalidParameterError(f"must be a positive number of dimensions for {self.name}; got {r!r}.", "r", r)
        return given

    def _sizes(self, function: Callable[..., Any], sizes: dict[str, Any]) -> dict[str, Any]:
        known = [name for name in signature(function).parameters if name not in ("eps", "delta")]
        missing = [name for name in _required_names(function) if name not in sizes]
        unknown = [name for name in sizes if name not in known]
        if missing or unknown:
            said = f"it needs {', '.join(known)}" if known else "it needs no sizes"
            what = f"{missing[0]} is missing" if missing else f"{unknown[0]} is not among them"
            raise InvalidParameterError(f"{self.name}: {said}; {what}.")
        return {
            name: value if name == "family" else checked_size(self.name, name, value) for name, value in sizes.items()
        }


def _required_names(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.default is Parameter.empty and p.name not in ("eps", "delta"))


def _shape(*given: Values | str | None) -> tuple[int, ...]:
    """Return the shape that all have together: so many answers there are."""
    try:
        return np.broadcast_shapes(*(value.shape for value in given if isinstance(value, np.ndarray)))
    except ValueError as error:
        raise InvalidParameterError(f"The shapes of the arguments do not go together: {error}") from None


def _scalar(value: Values) -> Any:
    return value if value.ndim else float(value)
