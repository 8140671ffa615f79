#!/bin/sh
# Installs what the examples run on: node with npm, and Python 3, as Debian packages them; and the packages of the
# JavaScript examples, below examples/javascript. What is there already is left as it is.
set -eu
cd "$(dirname "$0")"

missing=
command -v node >/dev/null || missing="$missing nodejs"
command -v npm >/dev/null || missing="$missing npm"
command -v python3 >/dev/null || missing="$missing python3"
if [ -n "$missing" ]; then
	if ! command -v apt-get >/dev/null; then
		echo "$0: missing:$missing; install them with the system's package manager" >&2
		exit 1
	fi
	if [ "$(id -u)" -ne 0 ]; then
		echo "$0: missing:$missing, and only root may install them: sudo $0" >&2
		exit 1
	fi
	apt-get update
	# shellcheck disable=SC2086 # a list of words
	DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $missing
fi
# npm ci takes exactly what the lock file has, and checks its digests.
if [ ! -d javascript/node_modules/@nats-io/transport-node ] || [ javascript/package-lock.json -nt javascript/node_modules/.package-lock.json ]; then
	(cd javascript && npm ci --no-audit --no-fund --ignore-scripts)
fi
