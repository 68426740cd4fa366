#!/usr/bin/python
"""Documents kcluster.kafka.gate, which works on the control node: its action plugin does everything."""

DOCUMENTATION = r"""
module: gate
short_description: Waits until a node may stop, or until it is back
description:
  - Works on the control node and asks over the wire; the host itself is only asked for a diagnosis.
  - Before a stop, each partition of the broker must keep C(min.insync.replicas) copies in sync without it, and all
    other brokers must be there; the other ZooKeeper servers or controllers must follow one leader.
  - After a start, the node must answer, be known to all, and have caught up with each of its partitions. A Spark master
    must answer and one must lead; a worker must be known to the one that leads.
options:
  part:
    description: Which node of the host.
    type: str
    choices: [keepers, brokers, masters, workers]
    required: true
  moment:
    description: Before the node is stopped, or after it was started.
    type: str
    choices: [before, after]
    required: true
  began:
    description: What the gate before the stop returned as RV(began), so that a diagnosis shows this start only.
    type: dict
  timeout:
    description: Seconds a gate may stay closed; then the task fails with the reason.
    type: float
    default: 600
  unsafe_partitions:
    description: Accept what no waiting makes safe, as partitions without a copy to spare.
    type: bool
    default: false
author:
  - the kcluster project
"""

EXAMPLES = r"""
- name: Wait until the broker may stop
  kcluster.kafka.gate:
    part: brokers
    moment: before
"""

RETURN = r"""
node:
  description: The name of the node; empty when the host has none.
  type: str
  returned: success
unit:
  description: Its systemd unit.
  type: str
  returned: success
leads:
  description: Whether it leads the nodes of its kind, and should be restarted last.
  type: bool
  returned: when moment is before
began:
  description: Where the start that follows begins in the log of the node.
  type: dict
  returned: when moment is before
"""
