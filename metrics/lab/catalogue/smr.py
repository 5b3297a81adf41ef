"""The experiments of SMR."""

from weir.metrics.lab.experiment import Experiment, ExperimentSize, How, Paper

EXPERIMENTS = (
    Experiment(
        name="smr-fig-5",
        paper=Paper.SMR,
        where="figure 5, section VIII-A",
        title="Peak throughput with and without back-up",
        question="What does it cost to keep a back-up of the state?",
        published="The peak throughput is highest without and drops by around 15 % with fault "
        "tolerance; it is 2.8 times that of Storm with its state in Cassandra, and grows almost "
        "linearly with the reducers.",
        how=How.LIVE,
        full=ExperimentSize(words="50,000 words, 20 batches of 60,000 rows, one and two reducers on one "
                  "Spark of two cores", about_s=240),
        quick=ExperimentSize(words="the same, 6 batches", about_s=75),
        work="smr_throughput:FIGURE_5",
    ),
    Experiment(
        name="smr-fig-6",
        paper=Paper.SMR,
        where="figure 6 (a) and (b), section VIII-A",
        title="A shift of the skew, and scale-out",
        question="How soon does the ring react when a few keys make most of the load, and when all do?",
        published="A neighbour takes over load, and it is stable after 200 s; the reaction time for "
        "scale-out is around 1.5 to 3 s with detection, replay and restoration of state.",
        how=How.LIVE,
        full=ExperimentSize(words="two reducers and a cluster with room, 320 to 500 rows/s, up to four "
                  "minutes each, on two cores", about_s=450),
        quick=ExperimentSize(words="the same, up to a minute and a half each", about_s=240),
        work="smr_elastic:FIGURE_6",
    ),
    Experiment(
        name="smr-fig-7",
        paper=Paper.SMR,
        where="figure 7, section VIII",
        title="The size of incremental checkpoints",
        question="How large is a checkpoint of what has changed, beside the whole state?",
        published="With smaller intervals checkpoints are significantly smaller; at 2 s they "
        "stabilize around 7 % of the entire state.",
        how=How.LIVE,
        full=ExperimentSize(words="50,000 words, 2,000 rows/s, four intervals, 30 checkpoints each; one "
                  "Spark of two cores in place of a ring", about_s=150),
        quick=ExperimentSize(words="the same, 8 checkpoints each", about_s=60),
        work="smr_checkpoints:FIGURE_7",
    ),
    Experiment(
        name="smr-fig-8",
        paper=Paper.SMR,
        where="figure 8 (b), section VIII-A",
        title="Recovery against the number of failures",
        question="Does recovery take longer when several nodes fail at one moment?",
        published="The recovery latency does not increase linearly and stabilizes around 1.2 to 1.5 "
        "s for 3 to 6 simultaneous failures.",
        how=How.LIVE,
        full=ExperimentSize(words="4 nodes of one slice each and one that stays, 1 to 3 failures at once, "
                  "two rounds, 60 rows/s on two cores", about_s=550),
        quick=ExperimentSize(words="3 nodes, 1 and 2 failures, one round", about_s=180),
        work="smr_recovery:FIGURE_8",
    ),
)  # fmt: skip
