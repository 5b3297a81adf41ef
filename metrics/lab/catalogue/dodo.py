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
    Experiment(
        name="dodo-ch7",
        paper=Paper.DODO,
        where="experiments 1 to 3, figures 27 to 30, section 7.3",
        title="Nothing, balancing, balancing and autoscaling",
        question="How much more does each of them carry, under one cap of executors?",
        published="9,500 events/s without, 14,400 (+51.58 %) with balancing, 16,700 (+75.79 %) with "
        "autoscaling too, where the CPU utilisation is the highest.",
        how=How.LIVE,
        full=ExperimentSize(words="a cap of 6 executors of one slot in place of 15 nodes, on two cores; one "
                  "to three minutes each", about_s=480),
        quick=ExperimentSize(words="the same, half a minute to a minute each", about_s=230),
        work="dodo_chapter_7:CHAPTER_7",
    ),
)  # fmt: skip
