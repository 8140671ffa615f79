package main

import (
	"io"
	"net"
	"sync"
)

// proxy stands between a node and one NATS server. It can hold what comes from one side, as a network does that loses
// every packet: the bytes wait, and arrive late once the network is whole. Or it can reset all connections and take no
// new ones. It is the poor substitute for a LAN: it works on streams of bytes, so it cannot lose packets, and TCP at
// both ends believes that the other is well.
type proxy struct {
	target   string
	listener net.Listener

	mu      sync.Mutex
	changed *sync.Cond // the mode, or closed
	// mode is what is broken at present; each direction of each connection asks it before it writes.
	mode   cut
	closed bool
	// conns has the connections that a reset ends; each is in it from keep until its pumps have ended.
	conns map[net.Conn]struct{} // of both sides
}

// cut is what of a network is broken. The zero value is nothing.
type cut struct {
	out   bool // what the node sends does not arrive: a proxy holds it, a switch loses it
	in    bool // what the node is sent does not arrive
	reset bool // there are no connections
}

// startProxy listens on a free port.
func startProxy(target string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{target: target, listener: l, conns: make(map[net.Conn]struct{})}
	p.changed = sync.NewCond(&p.mu)
	go p.accept()
	return p, nil
}

// set breaks the network, or makes it whole again. Bytes that were held go on when the mode no longer holds them; a
// reset ends the connections at once.
func (p *proxy) set(mode cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = mode
	if mode.reset {
		p.hangUpLocked()
	}
	p.changed.Broadcast()
}

// hangUpLocked resets all connections of both sides.
func (p *proxy) hangUpLocked() {
	for c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset, not an end in good order
		}
		_ = c.Close()
	}
	clear(p.conns)
}

// close ends all connections and takes no more.
func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.hangUpLocked()
	p.changed.Broadcast()
}

// accept takes connections until the listener is closed, each with a goroutine of its own.
func (p *proxy) accept() {
	for {
		node, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.join(node)
	}
}

// join connects a node with the server, until one of them ends it.
func (p *proxy) join(node net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = node.Close()
		return
	}
	if !p.keep(node, server) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pump(server, node, func(mode cut) bool { return mode.out }) })
	both.Go(func() { p.pump(node, server, func(mode cut) bool { return mode.in }) })
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, node)
	delete(p.conns, server)
}

// keep remembers a pair of connections, or ends them if there are to be none.
func (p *proxy) keep(node, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[node], p.conns[server] = struct{}{}, struct{}{}
	if p.mode.reset || p.closed {
		p.hangUpLocked()
		return false
	}
	return true
}

// pump carries what one side sends to the other, and at last its end. While it is held, the end waits too. One buffer
// of bytes is in the proxy at most, so the sender's own buffers fill, as they would with a network that loses
// everything.
func (p *proxy) pump(to io.WriteCloser, from io.Reader, held func(cut) bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.await(held)
		if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
			_ = to.Close()
			return
		}
	}
}

// await waits while a direction is held. The mode and the end of the proxy wake it.
func (p *proxy) await(held func(cut) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for held(p.mode) && !p.closed && !p.mode.reset {
		p.changed.Wait()
	}
}
