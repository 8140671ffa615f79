package lan

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// LAN is some hosts and the switch between them. Add and Close are not for concurrent use; the switch is.
type LAN struct {
	*Switch
	hosts []*Host
}

// Host is a network namespace with an address on the LAN, and with a loopback of its own. The two files keep it alive,
// besides the processes in it.
type Host struct {
	name      string
	addr      netip.Addr
	namespace *os.File
	device    *os.File
}

// New returns a LAN without hosts. The error wraps [ErrUnavailable] if this machine, or this user, cannot have one; it
// names what is missing. The seed decides which packets are lost. It makes a host on trial, because the rights that it
// takes show only then.
func New(seed uint64) (*LAN, error) {
	l := &LAN{Switch: NewSwitch(seed)}
	h, err := openHost("probe", netip.AddrFrom4([4]byte{10, 77, 0, 254}))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	h.close()
	return l, nil
}

// Add makes a host. Its number, from 1 to 250, decides its address, 10.77.0.number. The host is attached when Add
// returns, and its links are whole.
func (l *LAN) Add(name string, number byte) (*Host, error) {
	h, err := openHost(name, netip.AddrFrom4([4]byte{10, 77, 0, number}))
	if err != nil {
		return nil, fmt.Errorf("make the host %s: %w", name, err)
	}
	l.hosts = append(l.hosts, h)
	l.Attach(h.addr, h.device)
	return h, nil
}

// Close takes the LAN down. Processes that still run on its hosts have no network any more.
func (l *LAN) Close() {
	for _, h := range l.hosts {
		h.close()
	}
	l.Switch.Close()
}

// openHost makes the namespace and what is in it. The device is made while the thread is in the new namespace, since a
// device belongs to the namespace in which it is made.
func openHost(name string, addr netip.Addr) (*Host, error) {
	h := &Host{name: name, addr: addr}
	err := onThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		if h.namespace, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return err
		}
		if err := setUp("lo"); err != nil {
			return err
		}
		h.device, err = openTUN(addr)
		return err
	})
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// close ends the device and lets the namespace go; a process that is still in it keeps it alive, without a network.
func (h *Host) close() {
	for _, f := range []*os.File{h.device, h.namespace} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// Name is that which the host was made with.
func (h *Host) Name() string { return h.name }

// Addr is the host's address on the LAN.
func (h *Host) Addr() netip.Addr { return h.addr }

// Start starts a process on the host. Its children are there too. Only the creation is done in the namespace: cmd may
// be waited for from anywhere.
func (h *Host) Start(cmd *exec.Cmd) error { return h.do(cmd.Start) }

// DialContext connects from the host to an address, which must be numeric.
func (h *Host) DialContext(ctx context.Context, network, address string) (c net.Conn, err error) {
	if _, err := netip.ParseAddrPort(address); err != nil {
		return nil, err // a name would be looked up by another thread, in another namespace
	}
	err = h.do(func() (err error) {
		c, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return c, err
}

// Listen listens on a port of the host; 0 is a free one.
func (h *Host) Listen(port uint16) (l net.Listener, err error) {
	err = h.do(func() (err error) {
		l, err = net.Listen("tcp4", netip.AddrPortFrom(h.addr, port).String())
		return err
	})
	return l, err
}

// do calls a function on a thread of the host's namespace. Sockets and processes belong to the namespace of the thread
// that makes them, so the function must make them itself, and in no further goroutine. It costs a thread for each
// call, which is cheap beside a process or a connection.
func (h *Host) do(act func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(h.namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the namespace of %s: %w", h.name, err)
		}
		return act()
	})
}

// onThread calls a function on a thread that ends with it, so that the thread's namespace is not met again.
func onThread(act func() error) error {
	err := errors.New("the thread ended early")
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the runtime ends the thread
		err = act()
	}()
	<-done
	return err
}
