"""An autoscaler that learns from experience: temporal difference and value iteration.

    states      latency bin x rising? (x risk of fewer)     table      Q-values and visits
    initial     zero, random, optimised, trained            updates    SARSA, Q-learning, value iteration
    policy      greedy, epsilon, decreasing epsilon         reward     what an action was worth
    strategy    how many executors an action moves          need       the rule behind the table
    scaler      all of it together

Reference: QSpark, a Q-learning autoscaler for Spark Streaming (thesis), chapter 4.
"""
