#!/usr/bin/env bash
# Fetches the jars of Apache Druid 33.0.0 with its Kafka indexing (Maven Central, 192 MB, once) for `npm run bench -- streams --druid`.
# Needs Maven. The jars lie in DRUID_DIR/lib (default: build/druid-streams).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=${DRUID_DIR:-$here/../../../build/druid-streams}
[[ -d $dir/lib ]] && exit
rm -rf "$dir/lib.part"
mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$dir/lib.part"
mv "$dir/lib.part" "$dir/lib"
