"""The experiments of ALBIC. Its figures carry no numbers; quoted is its text."""

from weir.metrics.lab.experiment import Experiment, ExperimentSize, How, Paper


def _balance(figure: int, nodes: int, about_s: float) -> Experiment:
    return Experiment(
        name=f"albic-fig-{figure}",
        paper=Paper.ALBIC,
        where=f"figure {figure}, section 5.1",
        title=f"The optimiser against Flux, {nodes} nodes",
        question="How well is load balanced with so many moves, against Flux?",
        published="The MILP approach consistently outperforms Flux, even after just a few seconds "
        "of optimization by the solver.",
        how=How.COMPUTED,
        full=ExperimentSize(words=f"{nodes} nodes, {20 * nodes} key groups, nine settings, ten instances "
                  "each", about_s=about_s),
        quick=ExperimentSize(words="the same, two instances each", about_s=about_s / 5 + 3),
        work=f"albic_balance:FIGURE_{figure}",
    )  # fmt: skip


EXPERIMENTS = (
    _balance(2, 20, 10),
    _balance(3, 40, 15),
    _balance(4, 60, 25),
    Experiment(
        name="albic-fig-5",
        paper=Paper.ALBIC,
        where="figure 5, section 5.1",
        title="Scale-in as part of balancing",
        question="Is it better to plan scale-in and balance together than to drain first?",
        published="The integrated approach obtains a good load distance much faster for both "
        "cases, while it completes scaling in within a similar time.",
        how=How.COMPUTED,
        full=ExperimentSize(
            words="60 nodes, 10 leave, 20 moves per period, as published; means of five instances",
            about_s=60,
        ),
        quick=ExperimentSize(words="the same, one instance", about_s=12),
        work="albic_drain:DRAIN",
    ),
    Experiment(
        name="albic-fig-6",
        paper=Paper.ALBIC,
        where="figures 6 and 7, section 5.2.1 (real job 1)",
        title="Real job 1 over time: against Flux and PoTC",
        question="How even is the load over hours, and with how many moves?",
        published="The MILP approach achieves a stable load distance consistently below 1 %, while "
        "Flux exhibits significant fluctuations up to 7 %; PoTC cannot achieve a consistently good "
        "one and has a continuous overhead.",
        how=How.SIMULATED,
        full=ExperimentSize(words="20 nodes, 300 groups, 96 periods; the job is measured live first, "
                  "on two clusters of two cores", about_s=200),
        quick=ExperimentSize(words="the same, 24 periods", about_s=140),
        work="albic_job_1:FIGURE_6",
    ),
    Experiment(
        name="albic-fig-8",
        paper=Paper.ALBIC,
        where="figures 8 and 9, section 5.2.2 (real job 1)",
        title="Real job 1 over time: how many moves",
        question="What does a limit on the moves cost in balance, and what does it save in pauses?",
        published="The unrestricted solution provides the best load balance, while the one with a "
        "limit of 10 key groups has significant spikes; the overhead of the unrestricted one is "
        "very large. A key group is paused for 2.5 s on average.",
        how=How.SIMULATED,
        full=ExperimentSize(words="20 nodes, 300 groups, 96 periods; the job is measured live first, "
                  "on two clusters of two cores", about_s=200),
        quick=ExperimentSize(words="the same, 24 periods", about_s=140),
        work="albic_job_1:FIGURE_8",
    ),
    Experiment(
        name="albic-fig-10",
        paper=Paper.ALBIC,
        where="figure 10, section 5.3",
        title="Collocation against COLA",
        question="How much traffic stays on its node, and what does that cost in balance?",
        published="ALBIC achieves a smaller load distance and up to ten per cent more collocation "
        "than COLA.",
        how=How.COMPUTED,
        full=ExperimentSize(
            words="40 nodes, 800 groups, 20 operators, 40 periods, five shares", about_s=300
        ),
        quick=ExperimentSize(
            words="20 nodes, 400 groups, 10 operators, 40 periods, three shares", about_s=45
        ),
        work="albic_collocation:FIGURE_10",
    ),
    Experiment(
        name="albic-fig-11",
        paper=Paper.ALBIC,
        where="figure 11, section 5.3",
        title="Collocation on three sizes",
        question="Does ALBIC stay ahead of COLA when the cluster grows?",
        published="ALBIC significantly and consistently outperforms COLA in both load distance and "
        "collocation for various system sizes.",
        how=How.COMPUTED,
        full=ExperimentSize(
            words="20, 40 and 60 nodes, half of the groups one-to-one", about_s=300
        ),
        quick=ExperimentSize(words="10 and 20 nodes, half of the groups one-to-one", about_s=30),
        work="albic_collocation:FIGURE_11",
    ),
    Experiment(
        name="albic-fig-12",
        paper=Paper.ALBIC,
        where="figure 12, section 5.4 (real job 2)",
        title="Collocation halves the load of real job 2",
        question="By how much does collocation cut the load, and with how many moves?",
        published="ALBIC gets the load index from 100 to 50 % with 10 moves per period; COLA, with "
        "close to 200, can only reduce it by 25 %.",
        how=How.SIMULATED,
        full=ExperimentSize(words="20 nodes, 200 groups, 21 periods, five seeds", about_s=60),
        quick=ExperimentSize(words="the same, one seed", about_s=12),
        work="albic_job_2:FIGURE_12",
    ),
    Experiment(
        name="albic-fig-13",
        paper=Paper.ALBIC,
        where="figure 13, section 5.4 (real job 3)",
        title="Real job 3: load index and collocation",
        question="What is won when only a part of the traffic can be together?",
        published="A similar trend as with job 2; the collocation factor is only half of it. The "
        "migrations of COLA are overwhelming, its input rate is lowered to 50 %.",
        how=How.SIMULATED,
        full=ExperimentSize(words="20 nodes, 300 groups, 90 periods; the job is measured live first, "
                  "on two clusters of two cores", about_s=200),
        quick=ExperimentSize(words="the same, 60 periods", about_s=140),
        work="albic_jobs_34:FIGURE_13",
    ),
    Experiment(
        name="albic-fig-14",
        paper=Paper.ALBIC,
        where="figure 14, section 5.4 (real job 4)",
        title="Real job 4: load index and collocation",
        question="Does ALBIC get to COLA's collocation while the job runs?",
        published="COLA's collocation from random allocations is very consistent around 61 %; ALBIC "
        "gradually achieves a similar one and reduces the load index at a low load distance.",
        how=How.SIMULATED,
        full=ExperimentSize(words="20 nodes, 800 groups, 90 periods; the job is measured live first, "
                  "on two clusters of two cores", about_s=220),
        quick=ExperimentSize(words="the same, 60 periods", about_s=150),
        work="albic_jobs_34:FIGURE_14",
    ),
)  # fmt: skip
