"""The experiments of DoDo."""

from weir.metrics.lab.experiment import Experiment, ExperimentSize, How, Paper

EXPERIMENTS = (
    Experiment(
        name="dodo-ring",
        paper=Paper.DODO,
        where="section 7.3 and appendix B",
        title="Consistent hashing against modulo",
        question="How many keys change their node when a node is added?",
        published="With K keys on N nodes about K/(N+1) keys need to be relocated.",
        how=How.COMPUTED,
        full=ExperimentSize(words="200,000 keys, 1 to 32 nodes", about_s=30),
        quick=ExperimentSize(words="5,000 keys, 1 to 32 nodes", about_s=1),
        work="dodo_ring:RING",
    ),
)
