#!/usr/bin/env bash
# Starts one class of this release: kafka-run-class.sh [-daemon] [-name NAME] [-loggc] CLASS [ARGUMENT...]
#
# Honoured: JAVA_HOME CLASSPATH LOG_DIR JMX_PORT EXTRA_ARGS and
# KAFKA_{HEAP,JVM_PERFORMANCE,GC_LOG,JMX,LOG4J}_OPTS and KAFKA_OPTS, each with a sensible value when not given.

# A server is away while this runs, so no more programs are started than are needed; one script tells the next where
# it is.
self=${KAFKA_RUN_CLASS:-$(readlink -f -- "${BASH_SOURCE[0]}")}
unset KAFKA_RUN_CLASS
base=${self%/bin/*}

daemon=""
name=""
gc=""
while [ $# -gt 0 ]; do
  case $1 in
    -daemon) daemon=yes; shift ;;
    -name) name=$2; shift 2 ;;
    -loggc) gc=yes; shift ;;
    *) break ;;
  esac
done
if [ $# -eq 0 ]; then
  echo "usage: ${0##*/} [-daemon] [-name NAME] [-loggc] CLASS [ARGUMENT...]" >&2
  exit 1
fi

# A server runs for months; everything else is a tool that should start quickly and end.
case $1 in
  kafka.Kafka | *.QuorumPeerMain | *.ConnectDistributed | *.ConnectStandalone | *.MirrorMaker | *.agent.Agent | *.coordinator.Coordinator) server=yes ;;
  *) server="" ;;
esac

# JAVA_HOME decides which Java; a JMX port belongs to one server, so a tool never tries to open it as well.
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
if ! command -v "$java" >/dev/null; then
  echo "error: no Java at '$java'; install a JRE or set JAVA_HOME" >&2
  exit 1
fi
[ "$server" ] || unset JMX_PORT

# The order of the class path is always the same (names in byte order), because archives of class data depend on it.
# connect-file is offered to Connect as a plugin and must not be on it.
sorted() {
  local LC_ALL=C jar
  for jar in "$base"/libs/*.jar; do
    case $jar in */connect-file-*) ;; *) jars+=":$jar" ;; esac
  done
}
jars=""
sorted
classpath=${CLASSPATH:+$CLASSPATH:}${jars#:}

: "${LOG_DIR:=$base/logs}"
: "${KAFKA_HEAP_OPTS:=-Xmx256M}"
if [ -z "$KAFKA_LOG4J_OPTS" ]; then
  if [ -e "$base/config/tools-log4j2.yaml" ]; then
    KAFKA_LOG4J_OPTS="-Dlog4j2.configurationFile=file:$base/config/tools-log4j2.yaml"
  else
    KAFKA_LOG4J_OPTS="-Dlog4j.configuration=file:$base/config/tools-log4j.properties"
  fi
else
  [ -d "$LOG_DIR" ] || mkdir -p "$LOG_DIR" || exit 1
  # A file for log4j 1 is still understood by the log4j 2 of Kafka 4, when it is told to.
  case $KAFKA_LOG4J_OPTS in
    *-Dlog4j.configuration=*) [ ! -e "$base/config/tools-log4j2.yaml" ] || KAFKA_LOG4J_OPTS+=" -Dlog4j1.compatibility=true" ;;
  esac
fi
if [ -z "$KAFKA_JVM_PERFORMANCE_OPTS" ]; then
  if [ "$server" ]; then
    KAFKA_JVM_PERFORMANCE_OPTS="-server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35"
    KAFKA_JVM_PERFORMANCE_OPTS+=" -XX:+ExplicitGCInvokesConcurrent -XX:MaxInlineLevel=15 -Djava.awt.headless=true"
  else
    KAFKA_JVM_PERFORMANCE_OPTS="-XX:+UseSerialGC -Djava.awt.headless=true"
  fi
fi
if [ "$JMX_PORT" ]; then
  : "${KAFKA_JMX_OPTS:=-Dcom.sun.management.jmxremote=true -Dcom.sun.management.jmxremote.authenticate=false -Dcom.sun.management.jmxremote.ssl=false}"
  KAFKA_JMX_OPTS+=" -Dcom.sun.management.jmxremote.port=$JMX_PORT"
  case $KAFKA_JMX_OPTS in *jmxremote.rmi.port=*) ;; *) KAFKA_JMX_OPTS+=" -Dcom.sun.management.jmxremote.rmi.port=$JMX_PORT" ;; esac
fi
if [ "$gc" ] && [ -z "$KAFKA_GC_LOG_OPTS" ]; then
  [ -d "$LOG_DIR" ] || mkdir -p "$LOG_DIR" || exit 1
  KAFKA_GC_LOG_OPTS="-Xlog:gc*:file=$LOG_DIR/${name:-kafka}-gc.log:time,tags:filecount=10,filesize=100M"
fi

# Each of these variables holds several options, separated by spaces as people write them.
read -r -d '' -a options <<<"$KAFKA_HEAP_OPTS $KAFKA_JVM_PERFORMANCE_OPTS $KAFKA_GC_LOG_OPTS $KAFKA_JMX_OPTS"
read -r -d '' -a own <<<"$KAFKA_OPTS"
read -r -d '' -a logging <<<"$KAFKA_LOG4J_OPTS"
command=("$java" "${options[@]}" "-Dkafka.logs.dir=$LOG_DIR" "${logging[@]}" -cp "$classpath" "${own[@]}" "$@")

if [ "$daemon" ]; then
  mkdir -p "$LOG_DIR" || exit 1
  nohup "${command[@]}" >"$LOG_DIR/${name:-kafka}.out" 2>&1 </dev/null &
else
  # exec, so that the process that was started is the server: signals and the process id reach it.
  exec "${command[@]}"
fi
