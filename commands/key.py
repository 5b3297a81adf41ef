"""`weir key`: the key that signs what agents are told, for agents on other machines."""

from typing import Annotated

import typer


def key(
    cluster: Annotated[
        str | None, typer.Argument(help="Print the key of this cluster's agent")
    ] = None,
) -> None:
    """Say where Weir's key is, or print the one that a cluster's agent needs.

    It goes into a file of its own that WEIR_KEY_FILE names, or into WEIR_KEY.
    """
    from weir.metrics.store.keyring import Keyring

    keyring = Keyring()
    if cluster is not None:
        print(keyring.agent_line(cluster))
        return
    keyring.audit_key()  # makes it
    print("The key is in WEIR_KEY." if keyring.in_env else f"The key is in {keyring.path}.")
    print("Engine, web and command line need it; `weir key CLUSTER` prints what an agent needs.")
