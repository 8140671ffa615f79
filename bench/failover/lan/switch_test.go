package lan

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// socket is a port whose host is the test.
type socket struct {
	out chan packet // what the host sends
	in  chan packet // what the host is sent
}

var errUnplugged = errors.New("unplugged")

func (s socket) Read(b []byte) (int, error) {
	p, ok := <-s.out
	if !ok {
		return 0, errUnplugged
	}
	return copy(b, p), nil
}

func (s socket) Write(b []byte) (int, error) {
	s.in <- slices.Clone(b)
	return len(b), nil
}

var (
	addrA = netip.MustParseAddr("10.77.0.1")
	addrB = netip.MustParseAddr("10.77.0.2")
	portA = netip.AddrPortFrom(addrA, 1000)
	portB = netip.AddrPortFrom(addrB, 2000)
)

// startPair returns a switch with two ports.
func startPair(t *testing.T) (s *Switch, a, b socket) {
	t.Helper()
	s = NewSwitch(1)
	a, b = socket{make(chan packet), make(chan packet, 100)}, socket{make(chan packet), make(chan packet, 100)}
	s.Attach(addrA, a)
	s.Attach(addrB, b)
	t.Cleanup(func() {
		close(a.out)
		close(b.out)
		s.Close()
	})
	return s, a, b
}

// arrives returns what the host is sent next.
func (s socket) arrives(t *testing.T) packet {
	t.Helper()
	select {
	case p := <-s.in:
		return p
	case <-time.After(10 * time.Second):
		t.Fatal("nothing arrives")
		return nil
	}
}

// TestSwitch carries, cuts and delays the packets of one direction, without a kernel.
func TestSwitch(t *testing.T) {
	s, a, b := startPair(t)
	there := segment{from: portA, to: portB, seq: 7, ack: 9, flags: flagACK}.packet()
	back := segment{from: portB, to: portA, seq: 9, ack: 7, flags: flagACK}.packet()
	a.out <- there
	if got := b.arrives(t); !bytes.Equal(got, there) {
		t.Errorf("%x arrives as %x", there, got)
	}
	s.Set(addrA, addrB, Link{Cut: true})
	a.out <- there
	a.out <- back[:3] // no packet at all: once it is taken, the one before is carried
	b.out <- back
	a.arrives(t) // the other direction is whole
	s.Set(addrA, addrB, Link{Delay: time.Millisecond})
	sent := time.Now()
	a.out <- there
	if got := b.arrives(t); !bytes.Equal(got, there) || time.Since(sent) < time.Millisecond {
		t.Errorf("%x arrives after %s", got, time.Since(sent))
	}
	if len(b.in) > 0 {
		t.Error("a packet of the link that was cut arrives")
	}
}

// TestResetSegments looks at the RSTs themselves: each side gets the sequence that it expects next.
func TestResetSegments(t *testing.T) {
	s, a, b := startPair(t)
	a.out <- segment{from: portA, to: portB, seq: 7, ack: 900, flags: flagACK}.packet()
	b.arrives(t)
	b.out <- segment{from: portB, to: portA, seq: 900, ack: 8, flags: flagACK}.packet()
	a.arrives(t)
	s.Set(addrA, addrB, Link{Reset: true})
	s.Set(addrB, addrA, Link{Reset: true})
	for _, tt := range []struct {
		at   socket
		want segment
	}{
		{a, segment{from: portB, to: portA, seq: 900, flags: flagRST}},
		{b, segment{from: portA, to: portB, seq: 8, flags: flagRST}},
	} {
		if got, ok := tt.at.arrives(t).segment(); !ok || got != tt.want {
			t.Errorf("%+v; want %+v", got, tt.want)
		}
	}
	a.out <- segment{from: portA, to: portB, seq: 41, flags: flagSYN}.packet()
	want := segment{from: portB, to: portA, ack: 42, flags: flagRST | flagACK}
	if got, ok := a.arrives(t).segment(); !ok || got != want {
		t.Errorf("a SYN is answered by %+v; want %+v", got, want)
	}
	a.out <- segment{from: portA, to: portB, seq: 41, flags: flagRST}.packet() // is answered by nothing
	a.out <- segment{from: portA, to: portB, ack: 5, flags: flagACK}.packet()
	if got, _ := a.arrives(t).segment(); got.seq != 5 || !got.has(flagRST) {
		t.Errorf("an acknowledgement is answered by %+v", got)
	}
}

// TestChecksums sums a packet as its receiver does, which yields zero.
func TestChecksums(t *testing.T) {
	p := segment{from: portA, to: portB, seq: 1, ack: 2, flags: flagRST}.packet()
	pseudo := uint32(protocolTCP + tcpHeaderLen)
	for i := 12; i < 20; i += 2 {
		pseudo += uint32(p[i])<<8 | uint32(p[i+1])
	}
	if checksum(p[:ipHeaderLen], 0) != 0 || checksum(p[ipHeaderLen:], pseudo) != 0 {
		t.Errorf("the checksums of %x are wrong", []byte(p))
	}
}
