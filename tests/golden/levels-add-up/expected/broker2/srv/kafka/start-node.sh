#!/bin/sh
# Written by kcluster. systemd starts a node of Kafka with it, as the service user:
#   start-node.sh UNIT START-SCRIPT CONFIG OTHER-FILE...
# It keeps in /run/UNIT what the process starts with, and lets the JVM start from an archive of classes, which takes
# about half the time. A node is away while this runs: it is no step of its own before the start, for which systemd would
# build the sandbox twice (40 ms), and it starts as few programs as it can.

# Nothing in here keeps a node from starting: it runs in a shell of its own, and says in the end which options to add.
prepare() {
    unit=$1
    link=${2%/bin/*}
    shift 2

    # A broker starts with no directory in log.dirs that is not a partition. A new ext4 has lost+found, and e2fsck makes it
    # again whenever it is missing. It goes only when it is empty; nothing is lost, because e2fsck needs none to be there.
    dirs=
    while IFS='=' read -r key value; do
        [ "$key" != log.dirs ] || dirs=$value
    done <"$1"
    IFS=,
    for folder in $dirs; do
        [ ! -d "$folder/lost+found" ] || rmdir "$folder/lost+found"
    done
    unset IFS

    # The Java that the launch script finds.
    java=${JAVA_HOME:+$JAVA_HOME/bin/java}
    IFS=:
    for folder in $PATH; do
        [ "$java" ] || [ ! -x "$folder/java" ] || java=$folder/java
    done
    unset IFS

    resolved=$(readlink -f "$link" "$java")
    release=${resolved%%
*}
    java=${resolved#*
}

    # What `kcluster plan` compares with: a process that was started with something else needs a restart.
    cp -- "$@" "/run/$unit/"
    echo "${release##*/}" >"/run/$unit/release"

    # How the last run ended; nothing is known after a power cut, and before the first start.
    cache=/var/cache/$unit
    archive=$cache/classes.jsa
    ended=
    [ ! -s "$cache/ended" ] || read -r ended <"$cache/ended"
    : >"$cache/ended"

    # After a bad end the node starts without an archive, and a later start makes a new one.
    if [ "$ended" ] && [ "$ended" != success ]; then
        rm -f "$cache"/*.jsa "$cache"/*.new
        return
    fi

    # With agents the JVM refuses to write an archive, and whoever sets such options has plans of their own.
    options="$KAFKA_HEAP_OPTS $KAFKA_JVM_PERFORMANCE_OPTS $KAFKA_JMX_OPTS $KAFKA_OPTS $JAVA_TOOL_OPTIONS $JDK_JAVA_OPTIONS"
    case $options in
        *-javaagent* | *-agent* | *-Xshare* | *SharedArchive* | *ArchiveClasses* | *-XX:Flags* | *-module*) return ;;
    esac

    # Archives came with Java 13.
    home=${java%/bin/java}
    feature=0
    while IFS='=".' read -r key _ value _; do
        [ "$key" != JAVA_VERSION ] || feature=$value
    done <"$home/release"
    [ "${feature:-0}" -ge 13 ] || return

    # An archive fits one build of Java, one release and one set of options.
    fits="$(stat -L --printf '%n %s %Y ' "$home/lib/server/libjvm.so" "$release/libs")$CLASSPATH $options"
    known=
    [ ! -s "$cache/fits" ] || IFS= read -r known <"$cache/fits"
    if [ "$known" != "$fits" ]; then
        rm -f "$cache"/*.jsa "$cache"/*.new
        printf '%s\n' "$fits" >"$cache/fits"
    fi

    # The JVM wrote it while it ended; only after an orderly end it is whole.
    if [ -e "$archive.new" ]; then
        [ "$ended" = success ] && [ -s "$archive.new" ] && sync "$archive.new" && mv "$archive.new" "$archive"
        rm -f "$archive.new"
    fi

    if [ -s "$archive" ]; then
        echo "-XX:SharedArchiveFile=$archive"
    else
        echo "-XX:ArchiveClassesAtExit=$archive.new"
    fi
}

# The variable of the heap is kcluster's own, and every launch script hands it on as it is.
option=$(prepare "$@")
[ -z "$option" ] || export KAFKA_HEAP_OPTS="$KAFKA_HEAP_OPTS $option -Xlog:cds=off -Xlog:cds+dynamic=off"
exec "$2" "$3"
