#!/bin/bash
# Boots Debian 12's own kernel in qemu (plain emulation, about 20 s) with this machine's root directory as a read-only lower layer and
# a disk of its own for what is written, and runs one script in it as root. Nothing the script does can touch this machine. A script
# that exits with 77 has the power cut: the kernel starts anew, on the disk as it was then, and so does the script. /mnt is on that disk
# itself, for upper layers of its own.
#   guest.sh SCRIPT [qemu options...]   run SCRIPT; prints its output between @@BEGIN and @@END, exits 0 when it exits 0
#   guest.sh --kernel                   print the kernel version used
#   guest.sh --missing                  print the Debian packages that are not installed, one per line
#   guest.sh --prepare                  fetch the kernel, build the module; a boot then needs no network
# Environment: ROCEC_GUEST_DIR scratch folder (about 500 MB), ROCEC_GUEST_KERNEL version, ROCEC_GUEST_SECONDS limit of one run (300).
set -euo pipefail

kit=$(cd "$(dirname "$0")" && pwd)
work=${ROCEC_GUEST_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/rocec-oracles/guest}

die() { echo "guest.sh: $*" >&2; exit 2; }

# The version that is ready wins over what apt offers today, so that a mirror's update does not cost a running setup its kernel.
kernel() {
  local v=${ROCEC_GUEST_KERNEL:-}
  [ -n "$v" ] || v=$(cat "$work/ready" 2>/dev/null || true)
  [ -n "$v" ] || v=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: linux-image-\(6\.1\.[0-9].*-amd64\)$/\1/p' | sort -V | tail -n 1)
  [ -n "$v" ] || v=$(apt-cache pkgnames linux-image-6.1. 2>/dev/null | sed -n 's/^linux-image-\(6\.1\.[0-9]*-[0-9]*-amd64\)$/\1/p' | sort -V | tail -n 1)
  [ -n "$v" ] || die "apt knows no linux-image-6.1.*-amd64: this needs Debian 12 for amd64, after apt-get update"
  echo "$v"
}

missing() {
  local tool
  while read -r tool package; do
    command -v "$tool" >/dev/null || PATH=/usr/sbin:/sbin:$PATH command -v "$tool" >/dev/null || echo "$package"
  done <<'TOOLS'
qemu-system-x86_64 qemu-system-x86
busybox busybox-static
cpio cpio
modprobe kmod
gcc gcc
make make
mkfs.ext4 e2fsprogs
TOOLS
  [ -e "$work/mod-$version/dcbstub.ko" ] || [ -d "/usr/src/linux-headers-$version" ] || echo "linux-headers-$version"
}

image() {
  [ -e "$work/img-$version/boot/vmlinuz-$version" ] && return
  local t="$work/fetch.$$"
  mkdir -p "$t/img"
  (cd "$t" && apt-get download "linux-image-$version" >apt.log 2>&1) ||
    die "cannot download linux-image-$version: $(tail -n 1 "$t/apt.log") (apt-get update may help)"
  dpkg -x "$t/linux-image-$version"_*.deb "$t/img"
  depmod -b "$t/img" "$version"
  rm -rf "${work:?}/img-$version"
  mv "$t/img" "$work/img-$version"
  rm -rf "$t"
}

stub() {
  local d="$work/mod-$version"
  [ -e "$d/dcbstub.ko" ] && cmp -s "$kit/dcbstub.c" "$d/dcbstub.c" && return
  [ -d "/usr/src/linux-headers-$version" ] || die "no kernel headers: apt-get install linux-headers-$version"
  rm -rf "$d"
  mkdir -p "$d"
  cp "$kit/dcbstub.c" "$d/"
  echo 'obj-m := dcbstub.o' >"$d/Makefile"
  make -s -C "/usr/src/linux-headers-$version" M="$d" modules >"$d/build.log" 2>&1 || {
    rm -f "$d/dcbstub.c"
    die "dcbstub.c does not build against linux-headers-$version: $(tail -n 3 "$d/build.log")"
  }
}

# An unpacked initrd in $1 that mounts the machine's root and runs $2.
initrd() {
  local m f
  mkdir -p "$1"/{bin,proc,sys,dev,host,ov,root,mods}
  cp "$(command -v busybox)" "$1/bin/busybox"
  for m in virtio_pci 9pnet_virtio 9p overlay virtio_blk crc32c_generic ext4; do
    modprobe -d "$work/img-$version" -S "$version" --show-depends "$m"
  done | awk '/^insmod/ && !seen[$2]++ {print $2}' | while read -r f; do
    cp "$f" "$1/mods/"
    basename "$f"
  done >"$1/mods/order"
  cat >"$1/init" <<INIT
#!/bin/busybox sh
b=/bin/busybox
\$b mount -t proc p /proc; \$b mount -t sysfs s /sys; \$b mount -t devtmpfs d /dev
for m in \$(\$b cat /mods/order); do \$b insmod /mods/\$m; done
\$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 hostroot /host
\$b mount -t ext4 /dev/vda /ov
\$b mkdir -p /ov/u /ov/w
\$b mount -t overlay -o lowerdir=/host,upperdir=/ov/u,workdir=/ov/w o /root
for d in proc sys dev; do \$b mount -o bind /\$d /root/\$d; done
\$b mkdir -p /ov/d; \$b mount -o bind /ov/d /root/mnt
\$b mount -t tmpfs t /root/run
echo @@BEGIN
\$b chroot /root /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C GUEST_MODS='$work/img-$version' DCBSTUB='$work/mod-$version/dcbstub.ko' /bin/bash '$2' </dev/null 2>&1
rc=\$?
if [ \$rc = 77 ]; then echo @@CUT; \$b reboot -n -f; fi
echo @@END rc=\$rc
\$b poweroff -f
INIT
  chmod +x "$1/init"
}

boot() {
  local script=$1 t until rc=0
  shift
  script=$(readlink -f "$script")
  [ -r "$script" ] || die "no such script: $script"
  t=$(mktemp -d "$work/boot.XXXXXX")
  # shellcheck disable=SC2064 # $t is local: it must be expanded now
  trap "rm -rf '$t'" EXIT
  initrd "$t/ir" "$script"
  (cd "$t/ir" && find . | cpio -o -H newc 2>/dev/null | gzip -1) >"$t/initrd.gz"
  truncate -s 2G "$t/disk"
  mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "$t/disk"
  until=$((SECONDS + ${ROCEC_GUEST_SECONDS:-300}))
  while ((SECONDS < until)); do
    # One processor: with two, emulated on as few that others use too, each waits for the other at every lock. After a power cut qemu
    # itself starts anew: a machine that was reset in it hung now and then, its timers no longer right.
    timeout "$((until - SECONDS))" qemu-system-x86_64 -accel tcg -cpu max -m 2G -smp 1 -nographic -no-reboot \
      -drive "file=$t/disk,format=raw,if=virtio,cache=unsafe" -kernel "$work/img-$version/boot/vmlinuz-$version" -initrd "$t/initrd.gz" \
      -append "console=ttyS0 quiet panic=-1 loglevel=3" -virtfs local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap \
      -nic none "$@" </dev/null >>"$t/console" 2>>"$t/qemu.err" || rc=$?
    tail -n 3 "$t/console" | grep -q '^@@CUT' || break
  done
  tr -d '\r' <"$t/console" | sed -n '/@@BEGIN/,/@@END/p'
  if ! grep -q '@@END' "$t/console"; then
    [ "$rc" != 124 ] || echo "guest.sh: stopped after ${ROCEC_GUEST_SECONDS:-300} s" >&2
    tail -n 5 "$t/console" "$t/qemu.err" >&2
    exit 3
  fi
  tr -d '\r' <"$t/console" | grep -q '^@@END rc=0$'
}

PATH=$PATH:/usr/sbin:/sbin
[ $# -ge 1 ] || die "usage: guest.sh SCRIPT [qemu options...] | --kernel | --missing | --prepare"
version=$(kernel)
case $1 in
--kernel) echo "$version" ;;
--missing) missing ;;
*)
  lacking=$(missing)
  [ -z "$lacking" ] || die "missing packages: $(echo "$lacking" | tr '\n' ' '): apt-get install --no-install-recommends them"
  mkdir -p "$work"
  image
  stub
  echo "$version" >"$work/ready"
  [ "$1" = --prepare ] || boot "$@"
  ;;
esac
