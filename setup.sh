#!/usr/bin/env bash
# Prepares what Weir needs: Java 17 or later, a virtual environment and, with --tests, the test
# packages (--unit: those alone), Chromium and, where Node is there, what checks the scripts. Checks first, repairs what
# is half-made, and does nothing where all is there.
set -euo pipefail
cd "$(dirname "$0")"
tests=""
browser=""
case "${1:-}" in
  --tests) tests=yes browser=yes ;;
  --unit) tests=yes ;;  # without a browser and Node
esac

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# Install a package with whichever package manager there is; false if none can.
install() { # apt-name dnf-name apk-name brew-name
  local sudo=""
  if [ "$(id -u)" -ne 0 ] && ! command -v brew >/dev/null; then
    # Without the right to install, the sentence that follows says what to install.
    if ! sudo -n true 2>/dev/null; then
      say "This user cannot install packages without a password."
      return 1
    fi
    sudo="sudo -n"
  fi
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

has_browser() {
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}

# -- Python, Java and Chromium first: what cannot be had is said before anything is downloaded
python=""
for candidate in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
  if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    python="$candidate"
    break
  fi
done
[ -n "$python" ] || fail "Weir needs Python 3.11 or later: install it, or name it with PYTHON=/path/to/python3 make run."

version="$(java_version || true)"
if [ "${version:-0}" -lt 17 ] 2>/dev/null; then
  say "Installing Java 17 ..."
  install openjdk-17-jre-headless java-17-openjdk-headless openjdk17-jre-headless openjdk@17 2>/dev/null ||
    install default-jre-headless java-21-openjdk-headless openjdk21-jre-headless openjdk@21 || true
  version="$(java_version || true)"
  [ "${version:-0}" -ge 17 ] || fail "Weir needs Java 17 or later: install it (for example openjdk-17-jre-headless) and put it on the PATH."
fi

if [ -n "$browser" ] && ! has_browser; then
  say "Installing Chromium for the browser tests ..."
  install chromium chromium chromium chromium || true
  has_browser || fail "The browser tests need Chromium: install the package chromium."
fi

# -- the virtual environment; a link to one that is shared is left as it is
if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
  rm -rf .venv
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    say "Installing Python's venv module ..."
    install "python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv" python3 python3 python3 || true
    "$python" -c 'import ensurepip, venv' 2>/dev/null || fail "Python cannot make virtual environments here: install the package python3-venv."
  fi
  "$python" -m venv .venv || { rm -rf .venv; fail "The virtual environment .venv could not be made; see the lines above."; }
fi

# -- packages: what is installed is remembered, and a change installs again
wanted="requirements.txt"
if [ -n "$tests" ]; then wanted="requirements-dev.txt"; fi
stamp=".venv/.ready-${wanted%.txt}"
state="$(cat requirements.txt "$wanted" pyproject.toml; pwd)"
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$state" ]; then
  say "Installing the packages of $wanted into .venv (a few minutes, once) ..."
  .venv/bin/python -m pip install --disable-pip-version-check -q -r "$wanted" ||
    fail "The packages of $wanted could not be installed; see the lines above."
  .venv/bin/python -m pip install --disable-pip-version-check -q --no-deps -e . ||
    fail "Weir could not be installed into .venv; see the lines above."
  # Compiled once here, not by every process that plans for the first time. What an older version
  # compiled may name classes that are gone.
  find controllers -name '*.nb[ic]' -delete
  .venv/bin/python -c 'from weir.controllers.engine.propose.outlook import warm_up
from weir.pipeline.engine.process import compile_kernels
warm_up()
compile_kernels()' ||
    fail "The planners could not be compiled; see the lines above."
  printf '%s\n' "$state" > "$stamp"
fi

# -- what checks the scripts in assets/, where Node is there; Weir itself runs without it
if [ -n "$browser" ]; then
  checks="tests/scripts"
  if ! command -v npm >/dev/null || ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'; then
    say "Node 20.19 or later is not there: the scripts in assets/ are not checked."
  elif ! cmp -s "$checks/package-lock.json" "$checks/node_modules/.ready"; then
    say "Installing ESLint, jsdom and axe for the scripts in assets/ and the pages ..."
    npm ci --prefix "$checks" --no-audit --no-fund --loglevel=error >&2 ||
      fail "The packages of $checks could not be installed; see the lines above."
    cp "$checks/package-lock.json" "$checks/node_modules/.ready"
  fi
fi
