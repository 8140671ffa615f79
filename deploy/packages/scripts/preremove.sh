#!/bin/sh
# Stops the services before the package is removed, and leaves them running before an upgrade. A .deb is told "remove", an
# .rpm the number of versions that stay.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now carillon.service carillon-worker.service
	fi
	;;
esac
