#!/bin/sh
# Makes the user of the server. An upgrade restarts the services that run; an installation starts none.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers carillon.conf
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart carillon.service carillon-worker.service
fi
