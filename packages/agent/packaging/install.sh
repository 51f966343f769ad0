#!/bin/sh
# Installs the Downlink agent from a control plane, and joins this machine to it:
#
#   curl -fsSL https://CONTROL-PLANE/install.sh | sudo sh
#   curl -fsSL https://CONTROL-PLANE/install.sh | sudo sh -s -- --storage-root /data --token-file token.txt
#   curl -fsSL https://CONTROL-PLANE/install.sh | sudo sh -s -- --uninstall
#
# It asks on the terminal for what is not given. What it installs is signed: by the key in /etc/downlink/release.pub where there is one,
# else by the key of the control plane, which is kept from then on.
set -eu

CONTROL_PLANE='' # The control plane writes its address here.
FILES=$CONTROL_PLANE/agent-packages

main() {
  storage_root='' token_file='' uninstall=false
  while [ $# -gt 0 ]; do
    case $1 in
      --storage-root) [ $# -gt 1 ] || fail "--storage-root needs a folder"; storage_root=$2; shift 2 ;;
      --token-file) [ $# -gt 1 ] || fail "--token-file needs a file"; token_file=$2; shift 2 ;;
      --uninstall) uninstall=true; shift ;;
      *) fail "$1 is no option; there are --storage-root, --token-file and --uninstall" ;;
    esac
  done
  [ "$(id -u)" = 0 ] || fail "only root installs: pipe this into 'sudo sh'"
  command -v dpkg >/dev/null || fail "this machine has no dpkg; unpack the archive of the agent that is at $FILES/"
  if $uninstall; then remove_agent; else install_agent; fi
}

install_agent() {
  for tool in curl openssl sha256sum; do command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install $tool"; done
  joined=false
  if [ -e /etc/downlink/agent.env ]; then joined=true; else ask_for_input; fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  fetch latest.manifest.json
  fetch latest.manifest.json.sig
  key=/etc/downlink/release.pub
  [ -e "$key" ] || { fetch release.pub && key=$work/release.pub; }
  openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$work/latest.manifest.json" \
    -sigfile "$work/latest.manifest.json.sig" >/dev/null || fail "the release is not signed by $key (or openssl is older than 3.0); nothing was installed"

  package=$(names | grep "_$(dpkg --print-architecture)\.deb\$") || fail "the release has no package for $(dpkg --print-architecture)"
  fetch "$package"
  sha256sum "$work/$package" | grep -q "^$(sum_of "$package") " || fail "$package is not what was signed; nothing was installed"
  # The user of apt may read the package.
  chmod -R a+rX "$work"
  apt-get install --yes --no-install-recommends "$work/$package"

  if $joined; then
    echo "This machine is joined already, by /etc/downlink/agent.env; its agent is $(agent --version) now."
    return
  fi
  said=$(printf '%s\n' "$token" | agent enroll --url "$CONTROL_PLANE" --storage-root "$storage_root" --token-file -)
  # What it names as the next step is done below.
  printf '%s' "${said%%Next:*}"
  if [ -d /run/systemd/system ]; then
    systemctl enable --now downlink-agent
    echo "The agent runs: agent status"
  else
    echo "There is no systemd here. Start the agent with: agent run"
  fi
}

# All that is asked for is known, and makes sense, before anything is installed.
ask_for_input() {
  [ -n "$storage_root" ] || storage_root=$(ask "Folder with the recordings: ")
  case $storage_root in /*) ;; *) fail "the folder $storage_root has to be named from / on" ;; esac
  [ -d "$storage_root" ] || fail "there is no folder $storage_root: make it first"
  if [ -n "$token_file" ]; then
    token=$(head -n 1 "$token_file" 2>/dev/null) || fail "$token_file cannot be read"
  else
    token=$(ask_secretly "Token of this device, from 'Add a device': ")
  fi
  case $token in dl_?t_*) ;; *) fail "${token_file:-what was entered} holds no token, which begins with dl_dt_" ;; esac
}

# Recordings stay.
remove_agent() {
  if ! dpkg -s downlink-agent >/dev/null 2>&1; then
    echo "No agent is installed."
    return
  fi
  apt-get purge --yes downlink-agent
  echo "The agent, its settings and its state are gone. The recordings stay where they are."
}

fetch() {
  curl -fsS --proto '=http,https' --retry 3 -o "$work/$1" "$FILES/$1" || fail "$FILES/$1 cannot be fetched"
}

# The manifest has a line for each name and for each sum, in this order, and is signed.
names() {
  sed -n 's/^ *"name": "\([A-Za-z0-9_.+-]*\)",\{0,1\}$/\1/p' "$work/latest.manifest.json"
}

sum_of() {
  awk -F '"' -v wanted="$1" '$2 == "name" { name = $4 } $2 == "sha256" && name == wanted { print $4 }' "$work/latest.manifest.json"
}

ask() {
  (: </dev/tty) 2>/dev/null || fail "there is no terminal to ask on: give --storage-root and --token-file"
  printf '%s' "$1" >/dev/tty
  IFS= read -r answer </dev/tty || true
  [ -n "$answer" ] || fail "nothing was entered"
  printf '%s' "$answer"
}

# It runs in a shell of its own, whose end shows again what is typed.
ask_secretly() {
  trap 'stty echo </dev/tty 2>/dev/null; echo >/dev/tty' EXIT
  stty -echo </dev/tty 2>/dev/null || true
  ask "$1"
}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

main "$@"
