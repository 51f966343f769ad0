#!/bin/bash
# Stands for systemctl where no systemd runs: it checks unit files with systemd's own program, and starts and stops what they name. Of what
# a unit may not do it takes from it what needs no systemd: to write outside of its folder, /tmp and /run, and all capabilities.
set -euo pipefail
verb=$1
shift
for service in "$@"; do
  [[ $service != -* ]] || continue
  unit=/etc/systemd/system/${service%@*}$([[ $service != *@* ]] || echo @).service
  pid=/run/$service.pid
  setting() { sed -n "s/^$1=//p" "$unit" | sed "s/%i/${service#*@}/g"; }
  if [[ $verb =~ ^(stop|restart)$ ]]; then
    kill -TERM "$(cat "$pid")"
    while kill -0 "$(cat "$pid")" 2> /dev/null; do sleep 0.1; done
  fi
  if [[ $verb =~ ^(enable|start|restart)$ ]]; then
    systemd-analyze verify "$unit"
    cd "$(setting WorkingDirectory)"
    writable=/var/lib/$(setting StateDirectory)
    # shellcheck disable=SC2016,SC2046 # the inner shells read the arguments; each word is a setting of its own
    (
      umask "$(setting UMask)"
      exec unshare --mount bash -c 'mount --bind "$0" "$0"; mount -o remount,bind,ro /; exec "$@"' "$writable" \
        setpriv --reuid "$(setting User)" --regid "$(setting User)" --init-groups --no-new-privs --bounding-set=-all \
        env -i "PATH=$PATH" "HOME=/var/lib/$(setting User)" $(setting Environment) \
        bash -c 'set -a; . "$0"; set +a; exec "$@"' "$(setting EnvironmentFile)" $(setting ExecStart)
    ) < /dev/null &
    echo $! > "$pid"
  fi
done
