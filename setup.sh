#!/usr/bin/env bash
# Prepares what Weir needs: a virtual environment, Java 17 or later and, with --tests, Chromium.
# Does nothing where everything is there already.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# Install a package with whichever package manager there is; false if none can.
install() { # apt-name dnf-name apk-name brew-name
  local sudo=""
  if [ "$(id -u)" -ne 0 ]; then sudo="sudo -n"; fi
  if command -v apt-get >/dev/null; then
    $sudo apt-get update -qq >/dev/null && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null
  elif command -v dnf >/dev/null; then $sudo dnf install -y -q "$2"
  elif command -v apk >/dev/null; then $sudo apk add -q "$3"
  elif command -v brew >/dev/null; then brew install -q "$4"
  else return 1
  fi
}

java_version() {
  local java="java"
  if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi
  "$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1
}

# -- Python
python=""
for candidate in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
  if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    python="$candidate"
    break
  fi
done
[ -n "$python" ] || fail "Weir needs Python 3.11 or later: install it, or name it with PYTHON=/path/to/python3 make run."
stamp=".venv/.ready"
if [ ! -f "$stamp" ] || ! cmp -s requirements.txt "$stamp"; then
  say "Preparing the virtual environment .venv (a few minutes, once) ..."
  [ -x .venv/bin/python ] || "$python" -m venv .venv || fail "Python cannot make virtual environments here: install the package python3-venv."
  .venv/bin/python -m pip install --disable-pip-version-check -q -r requirements.txt ||
    fail "The packages of requirements.txt could not be installed; see the lines above."
  cp requirements.txt "$stamp"
fi

# -- Java
version="$(java_version || true)"
if [ "${version:-0}" -lt 17 ] 2>/dev/null; then
  say "Installing Java 17 ..."
  install openjdk-17-jre-headless java-17-openjdk-headless openjdk17-jre-headless openjdk@17 || true
  version="$(java_version || true)"
  [ "${version:-0}" -ge 17 ] || fail "Weir needs Java 17 or later: install it (for example openjdk-17-jre-headless) and put it on the PATH."
fi

# -- Chromium, for the browser tests
if [ "${1:-}" = "--tests" ]; then
  if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
    say "Installing Chromium for the browser tests ..."
    install chromium chromium chromium chromium || true
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
      fail "The browser tests need Chromium: install the package chromium."
  fi
fi
