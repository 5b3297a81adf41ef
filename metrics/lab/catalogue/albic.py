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
)  # fmt: skip
