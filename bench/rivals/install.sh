#!/bin/sh
# Installs what two of the rivals run on: PostgreSQL and Redis, as Debian packages them. The bench
# starts servers of its own, on directories and ports of its own; it never uses the system's services.
set -eu

missing=
command -v redis-server >/dev/null || missing="$missing redis-server"
command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
if [ -z "$missing" ]; then
	exit 0
fi
apt-get update
# shellcheck disable=SC2086 # the names are words
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $missing
