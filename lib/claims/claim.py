"""The claims that a chapter tests, and how a claim gets its settings."""

import math
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from lib.claims.register import registered_entries
from lib.claims.setting import Setting, check_id
from lib.claims.tables import claims_summary

CLAIMS_JSON = "application/vnd.claims+json"  # media type of claims in the output of a cell


# By id the claim that was made last: a cell that runs again makes it anew.
_LATEST = WeakValueDictionary()


def claim_with_id(id: str) -> "Claim":
    """Return the claim of this notebook with an id.

    Raises
    ------
    KeyError
        If there is none.
    """
    if id not in _LATEST:
        raise KeyError(f"no claim {id!r} has been made; there are {', '.join(sorted(_LATEST))}")
    return _LATEST[id]


@dataclass
class Claim:
    """One sentence of a paper, with the settings in which it was tested.

    Parameters
    ----------
    id : str
        Kebab-case name, unique in the book.
    sentence : str
        The claim in our words, true or false.
    quote : str
        The paper's words in brief.
    exact : bool
        Whether it is an identity, which no sample decides.
    data : str
        The data that it needs beyond what comes with the book; empty for none.
    settings : list of Setting
        What `test` has added.
    registered : dict
        Its entry in a register (see `read_register`); empty if it has none.
    """

    id: str
    sentence: str
    quote: str
    exact: bool = False
    data: str = ""
    settings: list[Setting] = field(default_factory=list)
    registered: dict = field(default_factory=dict)

    def __post_init__(self):
        check_id(self.id)
        for name in ("sentence", "quote"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} of claim {self.id!r} must not be empty")

    def test(self, id: str, words: str = "", *, estimate: tuple, **fields) -> Setting:
        """Add and return a `Setting` of this claim.

        Parameters
        ----------
        id, words : str
            See `Setting`; the claim must not have the id already.
        estimate : tuple of float
            Value, low, high and n of the setting; of a mean over the data sets that were run also
            the ends for sets like these (`lib.evaluation.OverSets`).
        **fields
            What else a `Setting` has. Statistic, region, margin, unit and `min_trials` are by
            default what is registered for the setting, or else for its claim. A name in braces in a
            registered statistic must be given, too.

        Raises
        ------
        ValueError
            If the id is used already, the estimate has another length, the claim is not registered
            and statistic or region are not given, or the setting is not as `Setting` says: without
            a margin, for one.
        KeyError
            If a name in braces is not given.
        """
        if any(setting.id == id for setting in self.settings):
            raise ValueError(f"id {id!r} is already the name of a setting")
        names = ("value", "low", "high", "n", "like_low", "like_high")
        if len(estimate) not in (4, 6):
            raise ValueError(
                f"estimate of {id!r} must be value, low, high and n, perhaps with like_low and "
                f"like_high; got {estimate!r}"
            )
        numbers = dict(zip(names, estimate, strict=False))
        if self.registered:
            fields = self._registered_fields(id, fields)
        elif not {"statistic", "region"} <= fields.keys():
            raise ValueError(self._registration_advice(id))
        setting = Setting(id, words, **numbers, exact=self.exact, **fields)
        self.settings.append(setting)
        return setting

    def _entry(self, setting_id):
        """Return what is registered: what a setting has of its own goes before the claim's."""
        return self.registered | self.registered.get("settings", {}).get(setting_id, {})

    def _placeholders(self, setting_id):
        """Return the names in braces in a registered statistic."""
        statistic = self._entry(setting_id).get("statistic", "")
        return {name for _, name, _, _ in string.Formatter().parse(statistic) if name}

    def _registered_fields(self, setting_id, fields):
        """Return the fields of a setting, completed by what is registered."""
        entry = self._entry(setting_id)
        names = self._placeholders(setting_id)
        placeholders = {name: value for name, value in fields.items() if name in names}
        fields = {name: value for name, value in fields.items() if name not in placeholders}
        if not fields.get("statistic"):
            fields["statistic"] = entry["statistic"].format(**placeholders)
        low, high = entry["region"]
        rule = {
            "region": (-math.inf if low is None else low, math.inf if high is None else high),
            "margin": entry.get("margin", 0.0),
            "min_trials": entry["least"],
            "unit": entry["unit"],
        }
        return rule | fields

    def _registration_advice(self, setting_id):
        example = (
            '{"statistic": "...", "region": [0, null], "margin": 0.05, "least": 30, '
            f'"unit": "models", "why": "...", "primary": "{setting_id}", '
            f'"settings": {{"{setting_id}": {{}}}}}}'
        )
        return (
            f"claim {self.id!r} is not in chapters/registered.yml: "
            f"give {setting_id!r} statistic, region, margin, min_trials and unit, "
            f"or add there, in a clone of the book, such as\n{self.id}: {example}"
        )

    @property
    def primary(self) -> Setting:
        """Return the setting that decides, the first one where a run lacks it."""
        for setting in self.settings:
            if setting.id == self.registered.get("primary"):
                return setting
        return self.settings[0]

    def to_dict(self, paper: str) -> dict:
        """Return the claim and its settings as a dict that is valid JSON (no NaN, no infinity)."""
        return {
            "id": self.id,
            "sentence": self.sentence,
            "quote": self.quote,
            "central": self.registered.get("central", ""),
            "exact": self.exact,
            "data": self.data,
            "paper": paper,
            "kind": self.registered.get("kind") or ("exact" if self.exact else ""),
            "primary": self.primary.id if self.settings else "",
            "settings": [setting.to_dict() for setting in self.settings],
        }


class Claims:
    """The claims of one paper that a chapter tests.

    Parameters
    ----------
    paper : str
        Key of the paper in ``references.bib``. What decides its claims is in the book's register
        (`read_register`).
    """

    def __init__(self, paper: str):
        self.paper = paper
        self._registered = registered_entries()
        self._claims: dict[str, Claim] = {}

    def claim(self, id: str, sentence: str, *, quote: str, **fields) -> Claim:
        """Add and return a `Claim`, which `Claim.test` gives settings.

        Parameters
        ----------
        id, sentence, quote, **fields
            See `Claim`.

        Raises
        ------
        ValueError
            If the id is used already.
        """
        if id in self._claims:
            raise ValueError(f"id {id!r} is already the name of a claim")
        entry = self._registered.get(id, {})
        self._claims[id] = Claim(id, sentence, quote, registered=entry, **fields)
        _LATEST[id] = self._claims[id]
        return self._claims[id]

    def show(self) -> None:
        """Display what became of the claims, as `claims_summary` says it.

        A claim without a setting, as of a run whose parameters leave it out, is not shown.
        """
        from IPython.display import display  # here, as learners need no notebook

        claims = [claim.to_dict(self.paper) for claim in self if claim.settings]
        words = claims_summary(claims) if claims else "This run tests no claim."
        data = {"text/plain": words, "text/markdown": words, CLAIMS_JSON: claims}
        display(data, raw=True, metadata={"numbers": {}, "report": {"kind": "claims", "name": ""}})

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())
