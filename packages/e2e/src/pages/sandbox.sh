#!/bin/bash
# Runs a script in a copy of this machine that nobody else sees: whatever it writes, installs or starts is gone when it ends. It needs
# root and an overlay file system. The network is the machine's own, because pages install packages.
# usage: sandbox.sh FOLDER SCRIPT   FOLDER has an empty folder `copy`, and everything that the script may see as /srv/page
set -euo pipefail
if [ "${3:-}" != inside ]; then exec unshare --mount --pid --fork --kill-child "$0" "$1" "$2" inside; fi

here=$(cd "$(dirname "$0")" && pwd)
mount -t tmpfs copy "$1/copy"
mkdir "$1"/copy/{upper,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/copy/upper,workdir=$1/copy/work" "$1/copy/root"
root=$1/copy/root
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
mount -t tmpfs run "$root/run"
mount -t tmpfs tmp "$root/tmp"
mkdir -p "$root/srv/page" "$root$HOME"
mount --bind "$1" "$root/srv/page"
cp "$here/systemctl.sh" "$root/usr/local/bin/systemctl"
rm -rf "$root"/{opt,etc,var/lib}/downlink
exec chroot "$root" bash -euxc "$2"
