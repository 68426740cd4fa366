#!/usr/bin/env bash
# Runs a part of Trogdor, Kafka's fault injector: trogdor.sh agent|coordinator|client|agent-client [ARGUMENT...]

self=$(readlink -f -- "${BASH_SOURCE[0]}")
base=${self%/bin/*}
case $1 in
  agent) class=org.apache.kafka.trogdor.agent.Agent ;;
  coordinator) class=org.apache.kafka.trogdor.coordinator.Coordinator ;;
  client) class=org.apache.kafka.trogdor.coordinator.CoordinatorClient ;;
  agent-client) class=org.apache.kafka.trogdor.agent.AgentClient ;;
  *)
    echo "usage: ${0##*/} agent|coordinator|client|agent-client [ARGUMENT...]" >&2
    exit 1
    ;;
esac
shift
# Maven Central does not have this jar for every version, and no broker needs it.
if ! compgen -G "$base/libs/trogdor-*.jar" >/dev/null; then
  echo "error: this release has no trogdor jar; put one into $base/libs" >&2
  exit 1
fi
exec "$base/bin/kafka-run-class.sh" "$class" "$@"
