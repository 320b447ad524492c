#!/bin/bash
# Installs the package into a Debian of its own, boots that in an emulator, and lets guest.sh try it there.
#
#   npm run test:boot        needs root, and the packages debootstrap and qemu-system-x86; takes about ten minutes
set -euo pipefail
cd "$(dirname "$0")/../.."

work=${SNITCH_BOOT_DIR:-$(mktemp -d)}
tree=$work/root
log=$work/boot.log
packages=systemd-sysv,linux-image-cloud-amd64,udev,curl,findutils,libatomic1

deb=$(ls -t dist/snitch_*.deb | head -1)
if [ ! -d "$tree" ]; then
  debootstrap --variant=minbase --include=$packages bookworm "$tree" >"$work/debootstrap.log"
fi
cp "$deb" "$tree/root/snitch.deb"
chroot "$tree" dpkg --install /root/snitch.deb
install -m 755 test/boot/guest.sh "$tree/root/guest.sh"
cat >"$tree/etc/systemd/system/guest.service" <<'UNIT'
[Unit]
After=snitch.service
[Service]
Type=oneshot
ExecStart=/root/guest.sh
ExecStopPost=/bin/systemctl poweroff --no-block
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
UNIT
mkdir -p "$tree/etc/systemd/system/multi-user.target.wants"
ln -sf /etc/systemd/system/guest.service "$tree/etc/systemd/system/multi-user.target.wants/"
rm -f "$work/disk.img"
mke2fs -q -t ext4 -d "$tree" -L root "$work/disk.img" 1800M

timeout 900 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 1536 -nographic -no-reboot -nic none \
  -kernel "$tree"/boot/vmlinuz-* -initrd "$tree"/boot/initrd.img-* \
  -append 'root=/dev/vda rw console=ttyS0 panic=1 quiet systemd.show_status=0' \
  -drive file="$work/disk.img",format=raw,if=virtio </dev/null >"$log" 2>&1

tr -d '\r' <"$log" | grep -E '^(ok|FAILED|  )' || true
if ! grep -q '^ok .*the last of it' "$log" || grep -q '^FAILED' "$log"; then
  echo "failed; see $log"
  exit 1
fi
echo "all is well; $log has the rest"
