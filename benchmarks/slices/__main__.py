"""One part at a time: each brings up what it needs, and writes its section of RESULTS.md.

python -m benchmarks.slices cost        CPU, batch time and throughput by number of slices
python -m benchmarks.slices reslices    pauses, exactness and keys moved of many re-slices
python -m benchmarks.slices balance     load distance with whole queries and with slices
python -m benchmarks.slices skew        hot keys elsewhere: SMR's rule and ALBIC
python -m benchmarks.slices shares      FAIR weights, and those that DRS recommends

Deaths of clusters are in `benchmarks.failover`.
"""

import argparse

from benchmarks.slices import balance, cost, reslices, shares, skew

PARTS = {"cost": cost, "reslices": reslices, "balance": balance, "skew": skew, "shares": shares}


def main() -> None:
    """Run the part that is named."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.slices", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    chosen = parser.add_subparsers(required=True)
    for name, part in PARTS.items():
        one = chosen.add_parser(name, description=part.__doc__)
        part.declare(one)
        one.set_defaults(main=part.main)
    options = parser.parse_args()
    options.main(options)


if __name__ == "__main__":
    main()
