#!/usr/bin/env bash
# Starts $class: $script [-daemon] $usage
#
# EXTRA_ARGS replaces `$extra`; everything else is as in kafka-run-class.sh.

self=$$(readlink -f -- "$${BASH_SOURCE[0]}")
bin=$${self%/*}
config=$${bin%/bin}/config

daemon=()
if [ "$$1" = -daemon ]; then
  daemon=(-daemon)
  shift
fi
if [ $$# -eq 0 ]; then
  echo "usage: $${0##*/} [-daemon] $usage" >&2
  exit 1
fi
export KAFKA_HEAP_OPTS="$${KAFKA_HEAP_OPTS:-$heap}"
export KAFKA_LOG4J_OPTS="$${KAFKA_LOG4J_OPTS:-$logging}"
read -r -d '' -a extra <<<"$${EXTRA_ARGS-$extra}"
export KAFKA_RUN_CLASS="$$bin/kafka-run-class.sh"
exec "$$BASH" "$$KAFKA_RUN_CLASS" "$${daemon[@]}" "$${extra[@]}" $class "$$@"
