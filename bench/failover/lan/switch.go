package lan

import (
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Link is what happens to packets on their way from one host to another. The zero value carries each of them at once.
// One direction only. Cut goes before Reset, Reset before the others.
type Link struct {
	Cut   bool          // packets vanish
	Reset bool          // TCP connections are ended by a RST to their sender, and refused; nothing else passes
	Delay time.Duration // how much later a packet arrives
	Loss  float64       // share of the packets that vanish, 0 to 1
}

// Bounds of what a switch keeps. Without bounds a slow link under load, or a run with very many connections, would
// fill the memory.
const (
	packetMax = 2048    // bytes; more than the devices' MTU
	queueMax  = 8192    // packets under way on one delayed link; what comes beyond is dropped
	knownMax  = 1 << 16 // directions of TCP connections; beyond, all are forgotten
)

// Switch carries packets between ports, each of which has the address of one host. It is safe for concurrent use. One
// lock guards everything, which is enough for the load of a test.
type Switch struct {
	mu sync.Mutex
	// decides about losses; which packet meets which number depends on their order
	rng   *rand.Rand
	ports map[netip.Addr]io.Writer
	// A direction without an entry is whole.
	lines map[pair]*line
	// next is, for each direction of a TCP connection, what its sender expects next from the other side: the
	// sequence of a RST that the sender takes.
	next map[flow]uint32
	// done ends the goroutines of delayed links; tasks has these and those of the ports.
	done  chan struct{}
	tasks sync.WaitGroup
}

// pair is a direction between two hosts.
type pair struct{ from, to netip.Addr }

// flow is a direction of a TCP connection. Ports are part of it, because a reset must name the connection.
type flow struct{ from, to netip.AddrPort }

// line is a link with the packets that are under way on it. A link without a delay has no queue and no goroutine.
type line struct {
	Link
	queue chan parcel // made with the first delay
}

// parcel is a packet that is delivered at its time. The bytes are a copy, because the buffer of a port is used
// again for its next packet.
type parcel struct {
	// at is when the packet arrives.
	at   time.Time
	data packet
}

// NewSwitch returns a switch without ports. The seed decides which packets are lost.
func NewSwitch(seed uint64) *Switch {
	return &Switch{
		rng: rand.New(rand.NewPCG(seed, 1<<34)), ports: make(map[netip.Addr]io.Writer), lines: make(map[pair]*line),
		next: make(map[flow]uint32), done: make(chan struct{}),
	}
}

// Attach adds the port of a host, and carries what it sends until a read fails. It is called once for an address,
// before Close.
func (s *Switch) Attach(addr netip.Addr, port io.ReadWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ports[addr] = port
	s.tasks.Go(func() {
		buf := make([]byte, packetMax)
		for {
			n, err := port.Read(buf)
			if err != nil {
				return
			}
			s.carry(buf[:n])
		}
	})
}

// Set says what happens from now on to packets from one host to another. Packets that are under way on a delayed link
// arrive all the same. It returns when the new state is in force for every later packet.
func (s *Switch) Set(from, to netip.Addr, l Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	way := s.lineLocked(pair{from, to})
	way.Link = l
	if l.Delay > 0 && way.queue == nil {
		way.queue = make(chan parcel, queueMax)
		s.tasks.Go(func() { s.deliverLate(way.queue) })
	}
	if l.Reset {
		s.resetLocked(from, to)
	}
}

// Close ends the delayed links, and returns when each port has ended. The caller closes the ports first. It is called
// once. Packets that wait on delayed links are dropped.
func (s *Switch) Close() {
	close(s.done)
	s.tasks.Wait()
}

// lineLocked returns the link of a direction, and makes a whole one if there was none.
func (s *Switch) lineLocked(p pair) *line {
	if s.lines[p] == nil {
		s.lines[p] = &line{}
	}
	return s.lines[p]
}

// resetLocked ends all connections of one host with another, as far as they are known. The others are ended
// by their next packet.
func (s *Switch) resetLocked(from, to netip.Addr) {
	for f, seq := range s.next {
		if f.from.Addr() == from && f.to.Addr() == to {
			s.sendLocked(reset(f.to, f.from, seq))
			delete(s.next, f)
		}
	}
}

// carry brings one packet on its way. p is only valid during the call.
func (s *Switch) carry(p packet) {
	from, to, ok := p.addresses()
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lineLocked(pair{from, to})
	switch {
	case l.Cut:
	case l.Reset:
		s.refuseLocked(p)
	case l.Loss > 0 && s.rng.Float64() < l.Loss:
	case l.Delay > 0:
		s.noteLocked(p)
		select {
		case l.queue <- parcel{time.Now().Add(l.Delay), slices.Clone(p)}:
		default: // dropped, as every switch does whose memory is full
		}
	default:
		s.noteLocked(p)
		s.sendLocked(p)
	}
}

// refuseLocked answers a TCP packet with a RST to its sender; other packets vanish.
func (s *Switch) refuseLocked(p packet) {
	if seg, ok := p.segment(); ok {
		if answer, ok := seg.refusal(); ok {
			s.sendLocked(answer)
		}
	}
}

// noteLocked remembers what the sender of a segment expects next. The value is stale if the newest packet was lost; a
// RST with it is not taken, and the next packet of the connection is answered instead.
func (s *Switch) noteLocked(p packet) {
	seg, ok := p.segment()
	if !ok {
		return
	}
	f := flow{seg.from, seg.to}
	switch {
	case seg.has(flagRST):
		delete(s.next, f)
		delete(s.next, flow{seg.to, seg.from})
	case seg.has(flagACK):
		if len(s.next) >= knownMax {
			clear(s.next)
		}
		s.next[f] = seg.ack
	}
}

// sendLocked hands a packet to its host. A host that is not there loses it.
func (s *Switch) sendLocked(p packet) {
	if _, to, ok := p.addresses(); ok && s.ports[to] != nil {
		_, _ = s.ports[to].Write(p) // fails if the host is gone, or its queue is full
	}
}

// deliverLate delivers what is under way on a delayed link, in order. One goroutine for each link keeps the order; a
// shorter delay that is set later applies only behind the packets that wait.
func (s *Switch) deliverLate(queue <-chan parcel) {
	for {
		select {
		case <-s.done:
			return
		case p := <-queue:
			select {
			case <-s.done:
				return
			case <-time.After(time.Until(p.at)):
				s.send(p.data)
			}
		}
	}
}

// send is sendLocked for a caller without the lock.
func (s *Switch) send(p packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sendLocked(p)
}
