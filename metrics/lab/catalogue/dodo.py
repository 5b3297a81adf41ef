"""The experiments of DoDo."""

from weir.metrics.lab.experiment import Experiment, ExperimentSize, How, Paper

EXPERIMENTS = (
    Experiment(
        name="dodo-extreme",
        paper=Paper.DODO,
        where="figures 23 (a), (b) and 24, section 6.4 (table 7)",
        title="The extreme case: one move, and the collapse",
        question="What does moving one operator bring where the work sits on the small cluster?",
        published="Moving the counting to the larger cluster improves the throughput by 87.73 %. "
        "Without regard to capacity the extractor then goes to the small one, and it drops from "
        "30,000 to 6,000 tweets/s.",
        how=How.LIVE,
        full=ExperimentSize(words="6 slots and 1 as in the thesis, on two cores; four ways of one to two "
                  "minutes", about_s=480),
        quick=ExperimentSize(words="the same, three ways of about a minute", about_s=310),
        work="dodo_cases:EXTREME_CASE",
    ),
    Experiment(
        name="dodo-optimal",
        paper=Paper.DODO,
        where="figure 23 (c) and (d), section 6.4 (table 8)",
        title="The optimal case: nothing is to be done",
        question="Does it leave a good placement alone, and what does it cost to look?",
        published="The throughputs are almost the same, as nothing needs to be moved: the overhead "
        "is ignorable. Without regard to capacity two needless moves degrade it to 16,000, then "
        "7,000 tweets/s.",
        how=How.LIVE,
        full=ExperimentSize(words="6 slots and 1 as in the thesis, on two cores; three ways of one to two "
                  "minutes", about_s=400),
        quick=ExperimentSize(words="the same, about a minute each", about_s=280),
        work="dodo_cases:OPTIMAL_CASE",
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
        quick=ExperimentSize(words="the same, one to two minutes each", about_s=360),
        work="dodo_chapter_7:CHAPTER_7",
    ),
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
)  # fmt: skip
