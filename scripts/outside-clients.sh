#!/bin/sh
# Installs the outside clients that test/api/outside-clients.test.ts and test/api/jdbc-driver.test.ts run, unchanged, into
# build/clients: pydruid with SQLAlchemy, Avatica's JDBC driver with HikariCP, plywood. What is there stays as it is.
# A client that cannot be had here is named, and the tests of it are skipped.
cd "$(dirname "$0")/.." || exit 1
clients=build/clients
mkdir -p "$clients"

missing() {
  command -v "$1" > /dev/null 2>&1 || packages="$packages $2"
}
packages=
missing java default-jdk-headless
missing javac default-jdk-headless
missing mvn maven
missing tmux tmux
python3 -c 'import ensurepip' > /dev/null 2>&1 || packages="$packages python3-venv"
if [ -n "$packages" ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
  apt-get update -qq > /dev/null 2>&1
  # shellcheck disable=SC2086
  apt-get install -y -qq $packages > /dev/null 2>&1 || echo "no package of$packages could be installed"
fi

if [ ! -e "$clients/python/done" ]; then
  rm -rf "$clients/python"
  python3 -m venv "$clients/python" &&
    "$clients/python/bin/pip" install -q 'pydruid==0.6.9' 'SQLAlchemy==2.0.36' &&
    touch "$clients/python/done" || echo 'pydruid could not be installed'
fi

if [ ! -e "$clients/jars/done" ]; then
  rm -rf "$clients/jars"
  mkdir -p "$clients/jars"
  for artifact in org.apache.calcite.avatica:avatica:1.25.0 com.zaxxer:HikariCP:5.1.0 org.slf4j:slf4j-api:2.0.16 org.slf4j:slf4j-nop:2.0.16; do
    mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$PWD/$clients/jars" > "$clients/maven.log" 2>&1 || failed="$artifact"
  done
  if [ -z "$failed" ]; then touch "$clients/jars/done"; else echo "$failed could not be fetched"; fi
fi

if [ ! -e "$clients/plywood/done" ]; then
  rm -rf "$clients/plywood"
  mkdir -p "$clients/plywood"
  echo '{ "private": true }' > "$clients/plywood/package.json"
  npm install --prefix "$clients/plywood" --no-audit --no-fund --silent plywood@0.33.3 plywood-druid-requester@2.7.0 &&
    touch "$clients/plywood/done" || echo 'plywood could not be installed'
fi
exit 0
