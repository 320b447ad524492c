#!/bin/bash
# Runs in the booted Debian, as root. Each line it prints says what was tried.
export HOME=/root TERM=dumb NO_COLOR=1
url=http://127.0.0.1:7676

ok() { echo "ok $*"; }
failed() {
  echo "FAILED $*"
  journalctl -u snitch -n 5 --no-pager -o cat | sed 's/^/  /'
}
# what, then the command that must succeed
try() {
  local what=$1
  shift
  if "$@" >/tmp/out 2>&1; then ok "$what"; else
    failed "$what"
    sed 's/^/  /' /tmp/out | head -5
  fi
}
property() { systemctl show -p "$1" --value snitch; }
is() { [ "$1" = "$2" ] || { echo "$1 is not $2"; false; }; }
says() { grep -q "$1" <<<"$2" || { echo "$2"; false; }; }
until_active() { for _ in $(seq 120); do systemctl is-active -q snitch && return; sleep 1; done; false; }

echo
try 'is active after the boot' until_active
try 'tells its counts' says '0 snitches' "$(property StatusText)"
try 'its process has its name' says 'snitch serve' "$(cat "/proc/$(property MainPID)/comm")"
try 'the command finds server and key' snitch create nightly --interval daily
token=$(snitch list -o json | grep -o '"token": *"[^"]*"' | cut -d'"' -f4)
try 'takes a check-in' curl -fsS $url/c/$token
try 'keeps its data to itself' is "$(stat -Lc %a /var/lib/snitch/ /var/lib/snitch/snitch.db | tr '\n' ' ')" '700 600 '

try 'reloads' systemctl reload snitch
echo 'log: { level: loud }' >>/etc/snitch/config.yaml
try 'refuses to reload what is wrong' bash -c '! systemctl reload snitch'
try 'says why, with its priority' says 'log.level: "loud"' "$(journalctl -u snitch -p err --no-pager)"
try 'goes on as before' is "$(property ActiveState)" active
sed -i '$d' /etc/snitch/config.yaml

key=snk_$(head -c 400 /dev/urandom | tr -dc 0-9A-Za-z | head -c 40)
(umask 077 && echo "$key" >/etc/credstore/snitch.admin-key)
systemctl restart snitch
try 'takes the administrator key of the credential' curl -fsS -u "$key:" $url/v1/cases
try 'keeps the key out of the environment' bash -c "! tr '\0' '\n' </proc/$(property MainPID)/environ | grep $key"

rm -f /tmp/codes
for _ in $(seq 64); do
  (for _ in $(seq 5); do curl -sS -m 120 -o /dev/null -w '%{http_code}\n' $url/c/$token >>/tmp/codes 2>&1; done) &
  clients+=($!)
done
sleep 2
systemctl restart snitch
systemctl restart snitch
wait "${clients[@]}"
try 'refuses no check-in while it restarts' is "$(sort /tmp/codes | uniq -c | tr -s ' ')" ' 320 202'

mkdir -p /etc/systemd/system/snitch.socket.d
for place in 0.0.0.0:7676 '[::]:7676' /run/snitch.sock 127.0.0.1:7676; do
  printf '[Socket]\nListenStream=\nListenStream=%s\n' "$place" >/etc/systemd/system/snitch.socket.d/place.conf
  systemctl daemon-reload
  systemctl stop snitch.service
  systemctl restart snitch.socket
  systemctl start snitch.service
  try "serves at $place" snitch list
done

mkdir -p /etc/systemd/system/snitch.service.d
printf '[Service]\nWatchdogSec=8\n' >/etc/systemd/system/snitch.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart snitch
sleep 20
try 'gives signs of life' is "$(property NRestarts)" 0
kill -STOP "$(property MainPID)"
for _ in $(seq 60); do [ "$(property NRestarts)" = 1 ] && break; sleep 1; done
try 'is restarted when it hangs' is "$(property NRestarts)" 1
try 'and serves again' until_active

try 'has no more exposure than it must' bash -c "systemd-analyze security snitch --threshold=12 --no-pager | tail -1"
try 'is backed up by root' snitch backup -q /root/backup.db
systemctl stop snitch.socket snitch.service
try 'is restored by root' snitch restore /root/backup.db
systemctl start snitch.socket snitch.service
try 'starts on what was restored' snitch show nightly

try 'is removed' dpkg --remove snitch
try 'stops with that' bash -c '! systemctl is-active -q snitch.service && ! systemctl is-active -q snitch.socket'
try 'leaves its data' test -s /var/lib/private/snitch/snitch.db
try 'installs again' dpkg --install /root/snitch.deb
try 'starts with that' until_active
try 'has its data' snitch show nightly
try 'is purged' dpkg --purge snitch
try 'leaves nothing' bash -c '! ls -d /var/lib/snitch /var/lib/private/snitch /etc/snitch 2>/dev/null && ! find /etc/systemd /usr/lib/systemd -name "snitch*" | grep .'
ok 'this was the last of it'
