#!/bin/sh
# Installs what the tests read packages of RPM with, as Debian packages it. What is there already is left as it is.
set -eu
missing=
command -v rpm2cpio >/dev/null || missing="$missing rpm"
command -v cpio >/dev/null || missing="$missing cpio"
[ -z "$missing" ] && exit 0
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
