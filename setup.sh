#!/usr/bin/env bash
# Prepares what Weir needs: Java 17 or later, a virtual environment and, with --tests, the test
# packages, Chromium and, where Node is there, what checks the scripts. With --unit: the test packages
# without Java and the rest. Checks first, repairs what is half-made, and does nothing where all is there.
set -euo pipefail
cd "$(dirname "$0")"
tests=""
browser=""
unit=""
case "${1:-}" in
  --tests) tests=yes browser=yes ;;
  --unit) tests=yes unit=yes ;;
esac

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# Who may install packages: root, anybody where there is Homebrew, and who needs no password for it.
may_install=""
sudo=""
if [ "$(id -u)" -eq 0 ] || command -v brew >/dev/null; then
  may_install=yes
elif sudo -n true 2>/dev/null; then
  may_install=yes sudo="sudo -n"
fi

# Install a package with whichever package manager there is; false if none can.
install() { # apt-name dnf-name apk-name brew-name
  if command -v apt-get >/dev/null; then
    $sudo apt-get update -qq >/dev/null && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null
  elif command -v dnf >/dev/null; then $sudo dnf install -y -q "$2"
  elif command -v apk >/dev/null; then $sudo apk add -q "$3"
  elif command -v brew >/dev/null; then brew install -q "$4"
  else return 1
  fi
}

missing=()
# Make sure that a check holds, by installing something where that may be done (or the same as "or"
# something else); what cannot be had is told together, before anything is downloaded.
need() { # check words apt dnf apk brew [or apt dnf apk brew]
  local check="$1" words="$2"
  shift 2
  "$check" && return
  if [ -n "$may_install" ]; then
    say "Installing $words ..."
    install "${@:1:4}" || true
    if ! "$check" && [ "${5:-}" = or ]; then install "${@:6:4}" || true; fi
    "$check" && return
  fi
  missing+=("$words: the package $1")
}

has_java() {
  local java="java" version
  if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi
  version="$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)"
  [ "${version:-0}" -ge 17 ]
}

has_browser() {
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}

has_venv() {
  .venv/bin/python -c 'import pip' 2>/dev/null || "$python" -c 'import ensurepip, venv' 2>/dev/null
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

need has_venv "Python's venv module" \
  "python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv" python3 python3 python3
if [ -z "$unit" ]; then
  need has_java "Java 17 or later" \
    openjdk-17-jre-headless java-17-openjdk-headless openjdk17-jre-headless openjdk@17 \
    or default-jre-headless java-21-openjdk-headless openjdk21-jre-headless openjdk@21
fi
if [ -n "$browser" ]; then need has_browser "Chromium for the browser tests" chromium chromium chromium chromium; fi
if [ ${#missing[@]} -gt 0 ]; then
  say "Weir needs, and could not install${may_install:+ here}:"
  printf '  - %s\n' "${missing[@]}" >&2
  [ -n "$may_install" ] || say "This user may not install packages: ask somebody who may, then run this again."
  exit 1
fi

# -- the virtual environment; a link to one that is shared is left as it is
if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
  rm -rf .venv
  "$python" -m venv .venv || { rm -rf .venv; fail "The virtual environment .venv could not be made; see the lines above."; }
fi

# -- packages: what is installed is remembered, and a change installs again
wanted="requirements.txt"
if [ -n "$tests" ]; then wanted="requirements-dev.txt"; fi
stamp() { printf '.venv/.ready-%s' "${1%.txt}"; }
state() { cat requirements.txt "$1" pyproject.toml; pwd; }
ready() { [ -f "$(stamp "$1")" ] && [ "$(cat "$(stamp "$1")")" = "$(state "$1")" ]; }
if ! ready "$wanted" && ! ready requirements-dev.txt; then # the latter has the former in it
  say "Installing the packages of $wanted into .venv (a few minutes, once) ..."
  .venv/bin/python -m pip install --disable-pip-version-check -qq -r "$wanted" ||
    fail "The packages of $wanted could not be installed; see the lines above."
  .venv/bin/python -m pip install --disable-pip-version-check -qq --no-deps -e . ||
    fail "Weir could not be installed into .venv; see the lines above."
  # Compiled once here, not by every process that plans for the first time. What an older version
  # compiled may name classes that are gone.
  find controllers -name '*.nb[ic]' -delete
  .venv/bin/python -c 'from weir.controllers.engine.propose.outlook import warm_up
from weir.pipeline.engine.start import compile_kernels
warm_up()
compile_kernels()' ||
    fail "The planners could not be compiled; see the lines above."
  state "$wanted" > "$(stamp "$wanted")"
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
