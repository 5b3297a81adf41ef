"""Online parameter optimisation: thresholds that tune themselves when the workload changes.

    window     notices that the workload has changed, and forgets what is older
    cost       what a run under certain thresholds would have cost
    search     recursive random search over the thresholds
    scaler     all of it together

Reference: Heinze et al., "Online parameter optimization for elastic data stream
processing", SoCC 2015.
"""
