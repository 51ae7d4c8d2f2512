#!/usr/bin/env bash
# Apache Druid's own query engines (33.0.0, jars of Maven Central) in one process: what the original answers.
#   run.sh prepare        fetches the jars (190 MB, once) and compiles Oracle.java
#   run.sh PORT FOLDER    loads every FOLDER/*.json as a datasource, one segment a file, then answers POST /native, /sql and /expr
# Needs JDK 17, and Maven for the first time. Jars lie in ORACLE_DIR/lib (default: build/druid-oracle).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$here/../../../build/druid-oracle
dir=${ORACLE_DIR:-$build}
if [[ ! -d $dir/lib ]]; then
  rm -rf "$dir/lib.part"
  mvn -q -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$dir/lib.part"
  mv "$dir/lib.part" "$dir/lib"
fi
mkdir -p "$build/classes"
[[ $build/classes/Oracle.class -nt $here/Oracle.java ]] || javac -nowarn -cp "$dir/lib/*" -d "$build/classes" "$here/Oracle.java"
[[ $1 == prepare ]] && exit
exec java -Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dlog4j.configurationFile="$here/log4j2.xml" \
  --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED \
  --add-opens=java.base/jdk.internal.ref=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED \
  -cp "$build/classes:$dir/lib/*" Oracle "$1" "$2"
