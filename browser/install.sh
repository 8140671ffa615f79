#!/bin/sh
# Installs what these tests look through: Chromium, as Debian packages it, and a font for the pictures.
# It does nothing where a browser is already.
set -eu

for name in chromium chromium-browser google-chrome-stable google-chrome; do
	if command -v "$name" >/dev/null; then
		exit 0
	fi
done
if [ "$(uname -s)" = Darwin ] && [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]; then
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "$0: no Chromium and no apt-get here: install Chromium or Chrome with the system's package manager, so that 'chromium' or 'google-chrome' is in the PATH" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "$0: no Chromium here, and only root may install it: sudo $0" >&2
	exit 1
fi
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium fonts-dejavu-core fonts-inter
