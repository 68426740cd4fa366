#!/usr/bin/env bash
# Runs $class with the surroundings that kafka-run-class.sh describes.

self=$$(readlink -f -- "$${BASH_SOURCE[0]}")
export KAFKA_HEAP_OPTS="$${KAFKA_HEAP_OPTS:-$heap}"
exec "$${self%/*}/kafka-run-class.sh" $class "$$@"
