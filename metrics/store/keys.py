"""Every key that Weir keeps in Redis, with type and lifetime.

| key                          | type    | lifetime        | holds                                     |
|------------------------------|---------|-----------------|-------------------------------------------|
| weir:clusters                | hash    | until forgotten | cluster -> newest ClusterSample           |
| weir:samples:{cluster}:{s}   | stream  | KEPT_S of tier  | ClusterSample, id = end of period in ms   |
| weir:briefs:{cluster}:{s}    | string  | KEPT_S of tier  | lines, a Brief each, of coarse tiers      |
| weir:parts                   | hash    | until removed   | part id -> Part                           |
| weir:deaths                  | hash    | until it is back | cluster -> Death                         |
| weir:hosts                   | hash    | until it ended  | cluster -> HostOrder                      |
| weir:commands                | stream  | newest 10,000   | command ids in order of issue             |
| weir:commands:{cluster}      | zset    | until final     | ids that are not final, by time of issue  |
| weir:command:{id}            | hash    | 7 days          | command, result, holder                   |
| weir:placement               | hash    | for ever        | operator -> Placement                     |
| weir:slicings                | hash    | for ever        | operator -> Slicing                       |
| weir:rebalances              | hash    | newest 200, 7 d | id -> Rebalance                           |
| weir:reslicings              | hash    | newest 200, 7 d | id -> Reslicing                           |
| weir:recommendations         | hash    | newest, 30 d    | id -> Recommendation; see retention.py    |
| weir:recommendations:at      | zset    | as above        | ids by the time they were made            |
| weir:recommendations:done    | zset    | as above        | of those that were acted on or rejected   |
| weir:recommendations:open    | set     | until final     | ids that are not final                    |
| weir:recommendations:version | hash    | as above        | id -> version, for compare-and-set        |
| weir:audit                   | stream  | newest 50,000   | AuditEntry, id = its number               |
| weir:aside:audit             | any             | for ever        | what somebody had put in the trail's place |
| weir:memory:{cluster}        | hash    | until forgotten | scaler -> its memory                      |
| weir:scale_outlooks          | hash    | until forgotten | cluster -> newest ScaleOutlook            |
| weir:outlook                 | string  | until replaced  | the engine's newest Outlook               |
| weir:settings                | hash    | for ever        | group -> settings that were changed       |
| weir:settings:changed        | hash    | for ever        | group -> who changed it last, and when    |
| weir:commits                 | hash    | for ever        | operator -> last commit of its last run   |
| weir:modes                   | hash    | for ever        | cluster -> Mode                           |
| weir:lease:{name}            | hash    | its TTL         | holder, token                             |
| weir:tokens                  | hash    | for ever        | lease name -> last token given            |
| weir:workloads               | hash    | for ever        | generator -> Workload                     |
| weir:spells:{name}           | list    | for ever        | generator's skews, each from which row on |
| weir:edge:{name}             | hash    | for ever        | fence and last batch of each producer, consumers' offsets |
| weir:edge:{name}:{shard}     | stream  | until trimmed   | Arrow chunks, id = rows so far            |
| weir:edge:{name}:{shard}:at  | hash    | for ever        | rows and bytes so far                     |
| weir:topics                  | zset    | for ever        | demo workload: topic -> its count         |
| weir:ranking:{name}          | zset    | for ever        | other workloads: what was counted -> its count |
| weir:sightings:{logo}        | string  | for ever        | video workload: bit n says that frame n shows it |
| weir:session:{hash}          | hash    | until idle      | user, since, seen, address of a session   |
| weir:sessions:{user}         | set     | longest session | hashes of the user's sessions             |
| weir:link:{hash}             | string  | its TTL, once   | who a one-time link signs in              |
| weir:links:{user}            | set     | newest link     | hashes of the user's links                |
| weir:failures:{kind}:{hash}  | hash    | a day           | failed sign-ins: count, locked until      |

Text values are JSON of the Struct named. Edges are trimmed only behind what
every registered consumer has committed.
"""

CLUSTERS = "weir:clusters"
PARTS = "weir:parts"
DEATHS = "weir:deaths"
HOSTS = "weir:hosts"
COMMANDS = "weir:commands"
PLACEMENT = "weir:placement"
SLICINGS = "weir:slicings"
REBALANCES = "weir:rebalances"
RESLICINGS = "weir:reslicings"
RECOMMENDATIONS = "weir:recommendations"
RECOMMENDATIONS_AT = "weir:recommendations:at"
RECOMMENDATIONS_DONE = "weir:recommendations:done"
RECOMMENDATIONS_OPEN = "weir:recommendations:open"
RECOMMENDATIONS_VERSION = "weir:recommendations:version"
AUDIT = "weir:audit"
AUDIT_ASIDE = "weir:aside:audit"
SCALE_OUTLOOKS = "weir:scale_outlooks"
OUTLOOK = "weir:outlook"
SETTINGS = "weir:settings"
SETTINGS_CHANGED = "weir:settings:changed"
COMMITS = "weir:commits"
MODES = "weir:modes"
TOKENS = "weir:tokens"
WORKLOADS = "weir:workloads"
TOPICS = "weir:topics"

COMMAND_KEPT_S = 7 * 86400
COMMANDS_KEPT = 10_000
AUDIT_KEPT = 50_000


def samples(cluster: str, tier_s: int) -> str:
    return f"weir:samples:{cluster}:{tier_s}"


def briefs(cluster: str, tier_s: int) -> str:
    return f"weir:briefs:{cluster}:{tier_s}"


def open_commands(cluster: str) -> str:
    return f"weir:commands:{cluster}"


def command(command_id: str) -> str:
    return f"weir:command:{command_id}"


def memory(cluster: str) -> str:
    return f"weir:memory:{cluster}"


def lease(name: str) -> str:
    return f"weir:lease:{name}"


def edge(name: str) -> str:
    return f"weir:edge:{name}"


def edge_shard(name: str, shard: int) -> str:
    return f"weir:edge:{name}:{shard}"


def edge_shard_at(name: str, shard: int) -> str:
    return f"weir:edge:{name}:{shard}:at"


def spells(name: str) -> str:
    return f"weir:spells:{name}"


def ranking(name: str) -> str:
    return f"weir:ranking:{name}"


def sightings(logo: str) -> str:
    return f"weir:sightings:{logo}"


def session(session_hash: str) -> str:
    return f"weir:session:{session_hash}"


def sessions(user: str) -> str:
    return f"weir:sessions:{user}"


def link(link_hash: str) -> str:
    return f"weir:link:{link_hash}"


def links(user: str) -> str:
    return f"weir:links:{user}"


def failures(kind: str, name_hash: str) -> str:
    return f"weir:failures:{kind}:{name_hash}"
