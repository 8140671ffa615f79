package lan

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// What each TUN device is. The names and sizes are the same on every host, because each has a namespace of its own.
// The queue is long, so that bursts of a herd of jobs are lost only where a link says so.
const (
	deviceName  = "lan0"
	devicePath  = "/dev/net/tun"
	deviceMTU   = 1500
	deviceQueue = 4096 // packets that wait for the switch
)

// netmask makes all hosts neighbours, so that none needs a route.
var netmask = [4]byte{255, 255, 255, 0}

// openTUN makes a TUN device in the namespace of the calling thread, with an address. What is written to it arrives at
// the namespace; what the namespace sends is read from it, packet by packet. The file is the only reference to the
// device: closing it removes the device.
func openTUN(addr netip.Addr) (*os.File, error) {
	fd, err := unix.Open(devicePath, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", devicePath, err)
	}
	if err := setUpTUN(fd, addr); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), devicePath), nil
}

// setUpTUN makes the device behind an open file, and configures it. Packets have no header before that of IP.
func setUpTUN(fd int, addr netip.Addr) error {
	request, err := unix.NewIfreq(deviceName)
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return fmt.Errorf("make a TUN device: %w", err)
	}
	if err := configure(deviceName, addr); err != nil {
		return err
	}
	return unix.SetNonblock(fd, true) // the runtime's poller waits for it
}

// configure gives a device its address and size, and sets it up. It uses the old ioctl requests instead of netlink,
// which would need a library.
func configure(name string, addr netip.Addr) error {
	ip := addr.As4()
	for _, step := range []struct {
		what    string
		request uint
		set     func(*unix.Ifreq) error
	}{
		{"address", unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(ip[:]) }},
		{"netmask", unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr(netmask[:]) }},
		{"MTU", unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(deviceMTU); return nil }},
		{"queue", unix.SIOCSIFTXQLEN, func(r *unix.Ifreq) error { r.SetUint32(deviceQueue); return nil }},
	} {
		if err := ask(name, step.request, step.set); err != nil {
			return fmt.Errorf("set the %s of %s: %w", step.what, name, err)
		}
	}
	return setUp(name)
}

// setUp lets a device carry packets.
func setUp(name string) error {
	err := ask(name, unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP); return nil })
	if err != nil {
		return fmt.Errorf("set %s up: %w", name, err)
	}
	return nil
}

// ask sends the kernel one request about a device of the calling thread's namespace. Any socket will do for such a
// request; it is made for it and closed.
func ask(name string, request uint, set func(*unix.Ifreq) error) error {
	r, err := unix.NewIfreq(name)
	if err == nil {
		err = set(r)
	}
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.IoctlIfreq(fd, request, r)
}
