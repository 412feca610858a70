# What demo.sh and test.sh share: saying what is done, and installing what is missing.

# Packages of Debian 12 (and of distributions made from it) that the build needs.
BUILD_PACKAGES="g++ cmake ninja-build pkg-config libfmt-dev libcli11-dev rapidjson-dev \
libdeflate-dev libisal-dev zlib1g-dev libssl-dev libimath-dev libutf8proc-dev"
TEST_PACKAGES="libgtest-dev libgmock-dev libbenchmark-dev python3 python3-venv strace"

# Announces the next step.
step() {
  STEP=$((${STEP:-0} + 1))
  printf '\n== %d. %s\n' "$STEP" "$*"
}

# Shows a command on stderr, then runs it.
run() {
  printf '+ %s\n' "$*" >&2
  "$@"
}

# Installs those of the packages that are not there yet; needs root only when one is missing.
install_packages() {
  local missing="" package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
      missing="$missing $package"
  done
  if [ -z "$missing" ]; then
    echo "all of them are installed: $*"
    return
  fi
  echo "missing:$missing"
  local as_root=""
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Run as root once, or install these packages by hand:$missing" >&2
      exit 2
    fi
    as_root=sudo
  fi
  # shellcheck disable=SC2086 # a list of words
  run $as_root apt-get update -qq
  # shellcheck disable=SC2086
  run $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    $missing >/dev/null
}
