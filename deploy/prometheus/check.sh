#!/usr/bin/env bash
# Checks the alerts and runs their tests with promtool: that of PROMTOOL, or of the PATH. If there is none, the script
# downloads one to bin/promtool on Debian and its derivatives, without installing it.
set -euo pipefail
cd "$(dirname "$0")"
bin=$(cd ../.. && pwd)/bin
promtool=${PROMTOOL:-$(command -v promtool || true)}
if [ -z "$promtool" ]; then
	promtool=$bin/promtool
	if [ ! -x "$promtool" ]; then
		work=$(mktemp -d)
		trap 'rm -rf "$work"' EXIT
		(cd "$work" && apt-get download -q prometheus && dpkg-deb -x prometheus_*.deb .)
		mkdir -p "$bin"
		cp "$work/usr/bin/promtool" "$promtool"
	fi
fi
"$promtool" check rules alerts.yaml
"$promtool" test rules alerts_test.yaml
