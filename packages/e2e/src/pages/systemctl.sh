#!/bin/bash
# Stands for systemctl where no systemd runs: it checks unit files with systemd's own program, and starts and stops what they name.
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
    # shellcheck disable=SC2016,SC2046 # the inner shell reads the file; each word is a setting of its own
    setpriv --reuid "$(setting User)" --regid "$(setting User)" --init-groups env -i "PATH=$PATH" "HOME=/var/lib/$(setting User)" \
      $(setting Environment) bash -c 'set -a; . "$0"; set +a; exec "$@"' "$(setting EnvironmentFile)" $(setting ExecStart) < /dev/null &
    echo $! > "$pid"
  fi
done
