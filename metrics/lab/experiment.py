"""What an experiment is, before it is run: whose, what it asks, what was published."""

from enum import StrEnum

from msgspec import Struct


class Paper(StrEnum):
    """The documents that the experiments come from, by the short names of the system in each."""

    DODO = "DoDo"
    ALBIC = "ALBIC"
    DRS = "DRS"
    QSPARK = "QSpark"
    SMR = "SMR"

    @property
    def citation(self) -> str:
        """Authors, title and year."""
        return _CITATIONS[self]


_CITATIONS = {
    Paper.DODO: "Wu, Dynamic Load Balancing and Autoscaling in Distributed Stream Processing "
    "Systems, Concordia University 2015",
    Paper.ALBIC: "Madsen, Zhou and Cao, Integrative Dynamic Reconfiguration in a Parallel Stream "
    "Processing Engine, ICDE 2017",
    Paper.DRS: "Fu, Ding, Ma, Winslett, Yang and Zhang, DRS: Auto-Scaling for Real-Time Stream "
    "Analytics",
    Paper.QSPARK: "Azimi Gehraz, Auto-Scaling Techniques for Spark Streaming, TU Darmstadt",
    Paper.SMR: "Kumbhare, Frincu, Simmhan and Prasanna, Fault-Tolerant and Elastic Streaming "
    "MapReduce with Decentralized Coordination",
}


class How(StrEnum):
    """Where the figures come from."""

    LIVE = "live"
    SIMULATED = "simulated"
    COMPUTED = "computed"

    @property
    def words(self) -> str:
        """What that means, for people."""
        return _HOW[self]


_HOW = {
    How.LIVE: "Live: measured on real Spark on this machine.",
    How.SIMULATED: "Simulated: the algorithm is real, the cluster is a model of one.",
    How.COMPUTED: "Computed: the algorithm itself is what is measured; no cluster takes part.",
}


class ExperimentSize(Struct, frozen=True, kw_only=True):
    """One size of an experiment: what is cut, and about how long it takes."""

    words: str
    about_s: float


class Experiment(Struct, frozen=True, kw_only=True):
    """One experiment of a paper."""

    name: str  # e.g. "albic-fig-10"
    paper: Paper
    where: str  # figure and section, e.g. "figure 10, section 5.3"
    title: str
    question: str
    published: str  # what the paper says, as a sentence
    how: How
    full: ExperimentSize
    quick: ExperimentSize
    work: str  # module of `pipeline.experiments` and what it defines there, by a colon

    def size(self, quick: bool) -> ExperimentSize:
        """The size asked for."""
        return self.quick if quick else self.full

    def ran_words(self, quick: bool) -> str:
        """What was run; the quick size is told as how it differs from the full one."""
        ran = f" Run was the quick size: {self.quick.words}." if quick else ""
        return f"Full size: {self.full.words}.{ran}"
