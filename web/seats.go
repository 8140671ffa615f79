package web

import (
	"container/list"
	"net"
	"net/netip"
	"slices"
	"time"
)

// shareFactor is how many times the free seats an address may have before its further connections wait. One address alone
// so fills 3/4 of the seats, two get 3/7 each, n get 3/(3n+1): what is left is free for an address that comes later. A
// larger factor gives one address more, and leaves less.
const shareFactor = 3

// leaversSeen bounds how many connections without a request are looked at for the one to be closed.
const leaversSeen = 128

// sourceKey is an address from which connections come: an IPv4 address, the network of 64 bits of an IPv6 address, because
// one machine has all addresses of such a network, or all of loopback, because a program there may choose among them. The
// zero key is what has no IP address.
type sourceKey = netip.Prefix

// keyOf returns the key of an address.
func keyOf(addr net.Addr) sourceKey {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return sourceKey{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := 32
	switch {
	case ip.IsLoopback():
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case ip.Is6():
		bits = 64
	}
	key, _ := ip.Prefix(bits) // an invalid address has the zero key
	return key
}

// source is what one address has. Invariant: it is in the map of the seats while one of the two is not 0.
type source struct {
	key     sourceKey
	seats   int // connections with a seat
	waiting int // connections in the line
}

// seats shares a number of seats among the addresses from which connections come. It is not safe for concurrent use: the
// listener's mutex guards it. silent holds connections that never had a request, idle those between two requests. Both are
// in the order in which the connections joined, so the first of a list has waited longest.
//
// Invariant: taken is at most most, and the sum of the seats of all sources; line has at most lineMost connections.
type seats struct {
	most, taken  int
	lineMost     int // connections that may wait; further ones are dropped
	sources      map[sourceKey]*source
	line         []*connection // without a seat; the one that waits longest is first
	silent, idle list.List     // of *connection
}

// join puts a connection at the end of the line. If the line is full already, it removes the newest connection of the
// source with most connections, and returns it: it may be the one that came.
func (s *seats) join(g *connection, key sourceKey) (dropped *connection) {
	g.source = s.sources[key]
	if g.source == nil {
		g.source = &source{key: key}
		s.sources[key] = g.source
	}
	g.source.waiting++
	s.line = append(s.line, g)
	if len(s.line) <= s.lineMost {
		return nil
	}
	worst := len(s.line) - 1
	for i := worst - 1; i >= 0; i-- {
		if of, most := s.line[i].source, s.line[worst].source; of.seats+of.waiting > most.seats+most.waiting {
			worst = i
		}
	}
	dropped = s.line[worst]
	s.leaveLine(worst)
	return dropped
}

// first returns the connection that gets the next seat, and whether there is one for it now: of the source with fewest
// seats the one that waits longest. It returns nil if the line is empty.
func (s *seats) first() (first *connection, isFree bool) {
	for _, g := range s.line {
		if first == nil || g.source.seats < first.source.seats {
			first = g
		}
	}
	if first == nil {
		return nil, false
	}
	return first, first.source.seats < shareFactor*(s.most-s.taken)
}

// seat gives a connection of the line a seat.
func (s *seats) seat(g *connection) {
	g.hasSeat = true
	g.source.seats++
	s.taken++
	s.leaveLine(slices.Index(s.line, g))
}

// leaver returns the connection that is closed for one of a source that waits. It is among the first leaversSeen that
// never had a request for silence, or else had none for idle: of the sources that have more seats, or of the same source,
// the one of the source with most. If there is none it returns nil, and how long to wait at most before the next look.
func (s *seats) leaver(now time.Time, of *source, silence, idle time.Duration) (leaves *connection, wait time.Duration) {
	wait = min(silence, idle) // for those that have a request now
	for _, kind := range [...]struct {
		list *list.List
		most time.Duration
	}{{&s.silent, silence}, {&s.idle, idle}} {
		seen := 0
		for e := kind.list.Front(); e != nil && seen < leaversSeen; e, seen = e.Next(), seen+1 {
			g := e.Value.(*connection)
			if left := kind.most - now.Sub(g.since); left > 0 {
				wait = min(wait, left)
				break
			}
			if mayLeave := g.source == of || g.source.seats > of.seats; mayLeave && (leaves == nil || g.source.seats > leaves.source.seats) {
				leaves = g
			}
		}
		if leaves != nil {
			return leaves, 0
		}
	}
	return nil, max(wait, time.Millisecond)
}

// free takes the seat of a connection.
func (s *seats) free(g *connection) {
	s.move(g, nil)
	g.hasSeat = false
	g.source.seats--
	s.taken--
	s.forget(g.source)
}

// empty removes all connections from the line, and returns them.
func (s *seats) empty() []*connection {
	line := slices.Clone(s.line)
	for range line {
		s.leaveLine(0)
	}
	return line
}

// leaveLine removes a connection from the line.
func (s *seats) leaveLine(i int) {
	of := s.line[i].source
	s.line = slices.Delete(s.line, i, i+1)
	of.waiting--
	s.forget(of)
}

// forget removes a source without connections.
func (s *seats) forget(of *source) {
	if of.seats == 0 && of.waiting == 0 {
		delete(s.sources, of.key)
	}
}

// move removes a connection from the list that it is in, and appends it to another; nil means to none. It also notes the
// time, so that a list is always in the order of its times.
func (s *seats) move(g *connection, to *list.List) {
	if g.among != nil {
		g.among.Remove(g.place)
	}
	if g.among, g.place = to, nil; to != nil {
		g.place, g.since = to.PushBack(g), time.Now()
	}
}
