"""Every key that Weir keeps in Redis, with type and lifetime.

| key                          | type    | lifetime        | holds                                     |
|------------------------------|---------|-----------------|-------------------------------------------|
| weir:clusters                | hash    | until forgotten | cluster -> newest ClusterSample           |
| weir:samples:{cluster}:{s}   | stream  | KEPT_S of tier  | ClusterSample, id = end of period in ms   |
| weir:parts                   | hash    | until removed   | part id -> Part                           |
| weir:commands                | stream  | newest 10,000   | command ids in order of issue             |
| weir:commands:{cluster}      | zset    | until final     | ids that are not final, by time of issue  |
| weir:command:{id}            | hash    | 7 days          | command, result, holder                   |
| weir:placement               | hash    | for ever        | operator -> Placement                     |
| weir:rebalances              | hash    | for ever        | id -> Rebalance                           |
| weir:outlook                 | string  | until replaced  | the engine's newest Outlook               |
| weir:settings                | hash    | for ever        | group -> settings that were changed       |
| weir:commits                 | hash    | for ever        | operator -> last commit of its last run   |
| weir:modes                   | hash    | for ever        | cluster -> Mode                           |
| weir:lease:{name}            | hash    | its TTL         | holder, token                             |
| weir:tokens                  | hash    | for ever        | lease name -> last token given            |
| weir:workloads               | hash    | for ever        | generator -> Workload                     |
| weir:snapshot                | string  | until replaced  | the engine's newest Snapshot              |
| weir:edge:{name}             | hash    | for ever        | fence and last batch of each producer, consumers' offsets |
| weir:edge:{name}:{shard}     | stream  | until trimmed   | Arrow chunks, id = rows so far            |
| weir:edge:{name}:{shard}:at  | hash    | for ever        | rows and bytes so far                     |
| weir:topics                  | zset    | for ever        | demo workload: topic -> its count         |

Text values are JSON of the Struct named. Edges are trimmed only behind what
every registered consumer has committed.
"""

CLUSTERS = "weir:clusters"
PARTS = "weir:parts"
COMMANDS = "weir:commands"
PLACEMENT = "weir:placement"
REBALANCES = "weir:rebalances"
OUTLOOK = "weir:outlook"
SETTINGS = "weir:settings"
COMMITS = "weir:commits"
MODES = "weir:modes"
TOKENS = "weir:tokens"
WORKLOADS = "weir:workloads"
SNAPSHOT = "weir:snapshot"
TOPICS = "weir:topics"

COMMAND_KEPT_S = 7 * 86400
COMMANDS_KEPT = 10_000


def samples(cluster: str, tier_s: int) -> str:
    return f"weir:samples:{cluster}:{tier_s}"


def open_commands(cluster: str) -> str:
    return f"weir:commands:{cluster}"


def command(command_id: str) -> str:
    return f"weir:command:{command_id}"


def lease(name: str) -> str:
    return f"weir:lease:{name}"


def edge(name: str) -> str:
    return f"weir:edge:{name}"


def edge_shard(name: str, shard: int) -> str:
    return f"weir:edge:{name}:{shard}"


def edge_shard_at(name: str, shard: int) -> str:
    return f"weir:edge:{name}:{shard}:at"
