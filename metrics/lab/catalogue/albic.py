"""The experiments of ALBIC. Its figures carry no numbers; quoted is its text."""

from weir.metrics.lab.experiment import Experiment, How, Paper, Size

EXPERIMENTS = (
    Experiment(
        name="albic-fig-5",
        paper=Paper.ALBIC,
        where="figure 5, section 5.1",
        title="Scale-in as part of balancing",
        question="Is it better to plan scale-in and balance together than to drain first?",
        published="The integrated approach obtains a good load distance much faster for both "
        "cases, while it completes scaling in within a similar time.",
        how=How.COMPUTED,
        full=Size(
            words="60 nodes, 10 leave, 20 moves per period, as published; means of five instances",
            about_s=60,
        ),
        quick=Size(words="the same, one instance", about_s=12),
        work="albic_drain:DRAIN",
    ),
)
