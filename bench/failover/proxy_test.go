package main

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// echo is a server that sends back what it is sent, line by line.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Echo(t, l)
	return l.Addr().String()
}

func dial(t *testing.T, p *proxy) testkit.LineConn {
	t.Helper()
	c, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return testkit.NewLineConn(t, c)
}

const (
	longEnough = 10 * time.Second
	aMoment    = 30 * time.Millisecond // in which what is held must not come
)

func startEcho(t *testing.T) *proxy {
	t.Helper()
	p, err := startProxy(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

// TestHeld holds each direction: what was sent meanwhile arrives, late, when the network is whole.
func TestHeld(t *testing.T) {
	for name, mode := range map[string]cut{"out": {out: true}, "in": {in: true}, "both": {out: true, in: true}} {
		p := startEcho(t)
		c := dial(t, p)
		c.Say(t, "before")
		if !c.Hears("before", longEnough) {
			t.Fatalf("%s: nothing passes a network that is whole", name)
		}
		p.set(mode)
		c.Say(t, "meanwhile")
		if c.Hears("meanwhile", aMoment) {
			t.Errorf("%s: it passes a network that is cut", name)
		}
		p.set(cut{})
		if !c.Hears("meanwhile", longEnough) {
			t.Errorf("%s: what was held is lost", name)
		}
	}
}

// TestHeldEnd ends a connection while the network is cut: the other side does not learn of it before.
func TestHeldEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := startProxy(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	node := dial(t, p)
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	p.set(cut{out: true})
	_ = node.Close()
	_ = server.SetReadDeadline(time.Now().Add(aMoment))
	if _, err := server.Read(make([]byte, 1)); err == io.EOF {
		t.Error("the end passes a network that is cut")
	}
	p.set(cut{})
	_ = server.SetReadDeadline(time.Now().Add(longEnough))
	if _, err := server.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the end was lost: %v", err)
	}
}

// TestReset ends all connections, and lets no new one be used until the network is whole.
func TestReset(t *testing.T) {
	p := startEcho(t)
	c := dial(t, p)
	c.Say(t, "before")
	if !c.Hears("before", longEnough) {
		t.Fatal("nothing passes a network that is whole")
	}
	p.set(cut{reset: true})
	_ = c.SetReadDeadline(time.Now().Add(longEnough))
	if _, err := c.In.ReadByte(); err == nil || isTimeout(err) {
		t.Errorf("a connection outlives the reset: %v", err)
	}
	if fresh, err := net.Dial("tcp", p.listener.Addr().String()); err == nil { // it may be reset at once
		_ = fresh.SetReadDeadline(time.Now().Add(longEnough))
		if _, err := fresh.Read(make([]byte, 1)); err == nil || isTimeout(err) {
			t.Errorf("a connection is taken while there are to be none: %v", err)
		}
		_ = fresh.Close()
	}
	p.set(cut{})
	c = dial(t, p)
	c.Say(t, "after")
	if !c.Hears("after", longEnough) {
		t.Error("nothing passes a network that is whole again")
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
