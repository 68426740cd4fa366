#!/usr/bin/python
"""Documents kcluster.kafka.gate, which works on the control node: its action plugin does everything."""

DOCUMENTATION = r"""
module: gate
short_description: Order and gates of a rolling restart
description:
  - Works on the control node and asks over the wire; the host itself is only asked for a diagnosis.
  - Names the node that is restarted next, in the order of C(kcluster restart). ZooKeeper servers or controllers come
    first, then brokers, Spark's masters and its workers; of each kind what does not run first, what leads last.
  - Before a stop, each partition of the broker must keep C(min.insync.replicas) copies in sync without it, and all
    other brokers must be there; the other ZooKeeper servers or controllers must follow one leader.
  - After a start, the node must answer, be known to all, and have caught up with each of its partitions. A Spark master
    must answer and one must lead; a worker must be known to the one that leads.
options:
  moment:
    description: V(next) names the next node; V(before) waits until a node may stop, V(after) until it is back.
    type: str
    choices: [next, before, after]
    required: true
  node:
    description: The name of the node at a gate; its host runs the task.
    type: str
  part:
    description: Instead of O(node), which node of the host.
    type: str
    choices: [keepers, brokers, masters, workers]
  hosts:
    description: With V(next) the hosts whose nodes are restarted.
    type: list
    elements: str
  restarted:
    description: With V(next) the names of the nodes that were restarted already.
    type: list
    elements: str
  began:
    description: What the gate before the stop returned as RV(began), so that a diagnosis shows this start only.
    type: dict
  timeout:
    description: Seconds a gate may stay closed; then the task fails with the reason.
    type: float
    default: 600
  unsafe_partitions:
    description: Accept what no waiting makes safe, as partitions without a replica to spare.
    type: bool
    default: false
author:
  - the kcluster project
"""

EXAMPLES = r"""
- name: Find the node that is restarted next
  kcluster.kafka.gate:
    moment: next
    hosts: "{{ ansible_play_hosts_all }}"
    restarted: [zookeeper-1]
  run_once: true

- name: Wait until the broker may stop
  kcluster.kafka.gate:
    part: brokers
    moment: before
"""

RETURN = r"""
node:
  description: The name of the node; empty when there is none.
  type: str
  returned: success
unit:
  description: Its systemd unit.
  type: str
  returned: success
host:
  description: The host of the next node.
  type: str
  returned: when moment is next
left:
  description: The names of all nodes that are still to be restarted, the next one among them.
  type: list
  elements: str
  returned: when moment is next
leads:
  description: Whether it leads the nodes of its kind, and should be restarted last.
  type: bool
  returned: when moment is before
began:
  description: Where the start that follows begins in the log of the node.
  type: dict
  returned: when moment is before
"""
