package lan

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// trio is three hosts, each of which sends back what it is sent, line by line.
type trio struct {
	*LAN
	a, b, c *Host
}

func startTrio(t *testing.T) trio {
	t.Helper()
	l, err := New(1)
	if errors.Is(err, ErrUnavailable) && os.Geteuid() != 0 {
		t.Skipf("needs root, and /dev/net/tun: %v", err)
	}
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	hosts := make([]*Host, 3)
	for i := range hosts {
		if hosts[i], err = l.Add(string(rune('a'+i)), byte(i+1)); err != nil {
			t.Fatal(err)
		}
		echo(t, hosts[i])
	}
	return trio{l, hosts[0], hosts[1], hosts[2]}
}

// echoPort is where the hosts listen.
const echoPort = 7

func echo(t *testing.T, h *Host) {
	t.Helper()
	l, err := h.Listen(echoPort)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Echo(t, l)
}

// both does the same to both directions of a link.
func (l trio) both(a, b *Host, how Link) {
	l.Set(a.Addr(), b.Addr(), how)
	l.Set(b.Addr(), a.Addr(), how)
}

// call is a connection from one host to another.
type call struct{ testkit.LineConn }

func dial(t *testing.T, from, to *Host) call {
	t.Helper()
	c, err := tryDial(from, to, longEnough)
	if err != nil {
		t.Fatal(err)
	}
	return call{testkit.NewLineConn(t, c)}
}

func tryDial(from, to *Host, within time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return from.DialContext(ctx, "tcp", net.JoinHostPort(to.Addr().String(), "7"))
}

func (c call) talks(t *testing.T, text string) {
	t.Helper()
	c.Say(t, text)
	if !c.Hears(text, longEnough) {
		t.Fatalf("%q does not come back", text)
	}
}

const (
	longEnough = 20 * time.Second
	aMoment    = 100 * time.Millisecond // in which what is cut must not come
)

// TestForwards joins each host with each other.
func TestForwards(t *testing.T) {
	l := startTrio(t)
	for _, from := range []*Host{l.a, l.b, l.c} {
		for _, to := range []*Host{l.a, l.b, l.c} {
			dial(t, from, to).talks(t, from.Name()+to.Name())
		}
	}
	dial(t, l.a, l.b).talks(t, strings.Repeat("x", 1<<20))
}

// TestCut cuts one link silently: neither side learns of it, the other links are well, and what was sent
// meanwhile arrives when the link is whole.
func TestCut(t *testing.T) {
	l := startTrio(t)
	c, other := dial(t, l.a, l.b), dial(t, l.a, l.c)
	c.talks(t, "before")
	l.both(l.a, l.b, Link{Cut: true})
	c.Say(t, "meanwhile")
	if c.Hears("meanwhile", aMoment) {
		t.Error("it passes a link that is cut")
	}
	other.talks(t, "beside")
	if fresh, err := tryDial(l.b, l.a, aMoment); !isTimeout(err) {
		t.Errorf("a dial over a link that is cut: %v, %v; want a timeout", fresh, err)
	}
	l.both(l.a, l.b, Link{})
	if !c.Hears("meanwhile", longEnough) {
		t.Error("what was sent while the link was cut is lost")
	}
}

// bothEnds connects two hosts, and returns both ends of the connection; they are closed when the test ends.
func bothEnds(t *testing.T, from, to *Host) (out, in net.Conn) {
	t.Helper()
	listener, err := to.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	if out, err = from.DialContext(t.Context(), "tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	if in, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return out, in
}

// TestOneWay cuts one direction: what is sent there arrives, the answers do not.
func TestOneWay(t *testing.T) {
	l := startTrio(t)
	out, in := bothEnds(t, l.a, l.b)
	there, back := call{testkit.NewLineConn(t, in)}, call{testkit.NewLineConn(t, out)}
	l.Set(l.b.Addr(), l.a.Addr(), Link{Cut: true})
	back.Say(t, "there")
	if !there.Hears("there", longEnough) {
		t.Error("the direction that is whole carries nothing")
	}
	there.Say(t, "back")
	if back.Hears("back", aMoment) {
		t.Error("the direction that is cut carries something")
	}
	l.Set(l.b.Addr(), l.a.Addr(), Link{})
	if !back.Hears("back", longEnough) {
		t.Error("what was sent in the direction that was cut is lost")
	}
}

// TestReset ends a connection that is silent, and one whose bytes are under way, at both ends. It refuses
// new ones until the link is whole, and leaves other links alone.
func TestReset(t *testing.T) {
	l := startTrio(t)
	idle, busy, other := dial(t, l.a, l.b), dial(t, l.a, l.b), dial(t, l.a, l.c)
	idle.talks(t, "before")
	busy.talks(t, "before")
	l.both(l.a, l.b, Link{Cut: true})
	busy.Say(t, "under way")
	l.both(l.a, l.b, Link{Reset: true})
	for name, c := range map[string]call{"idle": idle, "busy": busy} {
		_ = c.SetReadDeadline(time.Now().Add(longEnough))
		if _, err := c.In.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v; want a reset", name, err)
		}
	}
	if _, err := tryDial(l.b, l.a, longEnough); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a dial over a link that resets: %v; want a refusal", err)
	}
	other.talks(t, "beside")
	l.both(l.a, l.b, Link{})
	dial(t, l.a, l.b).talks(t, "after")
}

// TestResetReachesTheListener ends the accepted side of a silent connection too.
func TestResetReachesTheListener(t *testing.T) {
	l := startTrio(t)
	out, in := bothEnds(t, l.a, l.b)
	call{testkit.NewLineConn(t, out)}.Say(t, "x")
	if there := (call{testkit.NewLineConn(t, in)}); !there.Hears("x", longEnough) {
		t.Fatal("nothing passes a link that is whole")
	}
	l.both(l.a, l.b, Link{Reset: true})
	_ = in.SetReadDeadline(time.Now().Add(longEnough))
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v; want a reset", err)
	}
}

// TestDelay lets packets arrive later, and in order.
func TestDelay(t *testing.T) {
	const delay = 40 * time.Millisecond
	l := startTrio(t)
	c := dial(t, l.a, l.b)
	c.talks(t, "before")
	l.both(l.a, l.b, Link{Delay: delay})
	for range 3 {
		began := time.Now()
		c.talks(t, "later")
		if took := time.Since(began); took < 2*delay {
			t.Errorf("a round over a link with a delay of %s each way took %s", delay, took)
		}
	}
	c.talks(t, strings.Repeat("in order", 1<<15))
	l.both(l.a, l.b, Link{})
	c.talks(t, "after")
}

// TestLoss loses packets, which TCP sends again.
func TestLoss(t *testing.T) {
	l := startTrio(t)
	c := dial(t, l.a, l.b)
	l.both(l.a, l.b, Link{Loss: 0.05})
	c.talks(t, strings.Repeat("lossy", 1<<16))
	l.both(l.a, l.b, Link{Loss: 1})
	c.Say(t, "lost")
	if c.Hears("lost", aMoment) {
		t.Error("a packet passes a link that loses all")
	}
	l.both(l.a, l.b, Link{})
	if !c.Hears("lost", longEnough) {
		t.Error("what was lost is not sent again")
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
