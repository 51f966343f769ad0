#!/bin/bash
# A real S3 for tests: Ceph with one monitor, one store in memory and one gateway, all on the loopback, from Debian's packages
#   apt-get install --no-install-recommends ceph-mon ceph-osd ceph-common radosgw
# usage: run-ceph.sh DIR GATEWAY_PORT MONITOR_PORT
# Says "ready" once it serves, and runs until its standard input ends, which it also does when whoever started it is
# killed. A line "stop-gateway" there kills the gateway, "restart-gateway" kills it and starts it again, and either is answered
# by another "ready". At the end it ends the daemons that it started, and removes DIR. Users: "ci", and "reader", who owns nothing.
set -euo pipefail
dir=${1:?DIR}
port=${2:?GATEWAY_PORT}
monitor_port=${3:?MONITOR_PORT}
mkdir -p "$dir"/{mon,osd,rgw,run,log}
daemons=()
end() {
  [ ${#daemons[@]} -eq 0 ] || kill -9 "${daemons[@]}" 2>/dev/null || true
  wait 2> /dev/null
  rm -rf "$dir"
}
trap end EXIT
trap 'exit 1' INT TERM HUP

fsid=$(cat /proc/sys/kernel/random/uuid)
monitors="[v2:127.0.0.1:$monitor_port,v1:127.0.0.1:$((monitor_port + 1))]"
export CEPH_CONF=$dir/ceph.conf
cat > "$CEPH_CONF" <<CONF
[global]
fsid = $fsid
mon host = $monitors
public addr = 127.0.0.1
cluster addr = 127.0.0.1
public network = 127.0.0.0/8
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 2000
mon osd min in ratio = 0
mon data avail crit = 1
mon data avail warn = 2
osd objectstore = memstore
memstore device bytes = 4294967296
run dir = $dir/run
admin socket = $dir/run/\$name.\$pid.asok
pid file = $dir/run/\$name.pid
log file = $dir/log/\$name.log
keyring = $dir/keyring
mon data = $dir/mon
osd data = $dir/osd
ms bind ipv6 = false
ms mon client mode = crc
ms mon service mode = crc
ms mon cluster mode = crc
paxos propose interval = 0.05
paxos min wait = 0.01
osd mon heartbeat interval = 1
rgw init timeout = 120
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
rgw data = $dir/rgw
rgw enable usage log = false
rgw dynamic resharding = false
rgw run sync thread = false
rgw enable lc threads = false
rgw enable quota threads = false
rgw rados pool pg num min = 1
rgw multipart min part size = 1024
CONF

ceph-authtool --create-keyring "$dir/keyring" --gen-key -n mon. --cap mon 'allow *' > /dev/null
for client in client.admin client.rgw.a; do
  ceph-authtool "$dir/keyring" --gen-key -n $client --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *' > /dev/null
done
monmaptool --create --clobber --fsid "$fsid" --addv a "$monitors" "$dir/monmap" > /dev/null
ceph-mon -i a --mkfs --monmap "$dir/monmap" --keyring "$dir/keyring" > /dev/null 2>&1
ceph-mon -i a -f < /dev/null > "$dir/log/mon.out" 2>&1 &
daemons+=($!)
osd=$(cat /proc/sys/kernel/random/uuid)
timeout 90 ceph --connect-timeout 60 osd new "$osd" > /dev/null
timeout 60 ceph-osd -i 0 --mkfs --osd-uuid "$osd" > /dev/null 2>&1
ceph-osd -i 0 -f < /dev/null > "$dir/log/osd.out" 2>&1 &
daemons+=($!)
start_gateway() {
  radosgw -n client.rgw.a -f < /dev/null > "$dir/log/rgw.out" 2>&1 &
  daemons[2]=$!
  local deadline=$((SECONDS + 120))
  while [ $SECONDS -lt $deadline ]; do
    curl -s -m 10 -o /dev/null "http://127.0.0.1:$port/" && break
    kill -0 "${daemons[2]}" 2> /dev/null || break
    sleep 0.1
  done
  curl -s -m 10 -o /dev/null "http://127.0.0.1:$port/" || { tail -n 5 "$dir"/log/*.out >&2; exit 1; }
}
start_gateway
for user in ci reader; do
  timeout 90 radosgw-admin user create --uid=$user --display-name=$user --access-key=${user}accesskey \
    --secret-key=${user}secretkey012345 > /dev/null 2> "$dir/log/admin.out" || { tail -n 5 "$dir"/log/*.out >&2; exit 1; }
done
echo ready
while read -r command; do
  [[ "$command" =~ ^(stop|restart)-gateway$ ]] || { echo "no such command: $command" >&2; exit 1; }
  kill -9 "${daemons[2]}" 2> /dev/null || true
  wait "${daemons[2]}" 2> /dev/null || true
  [ "$command" = stop-gateway ] || start_gateway
  echo ready
done
