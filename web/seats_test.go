package web

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// elsewhere is a listener whose callers at 127.0.0.N are at 192.0.2.N, as if they were other machines, apart from 127.0.0.1.
type elsewhere struct{ net.Listener }

func (l elsewhere) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	at := *conn.RemoteAddr().(*net.TCPAddr)
	if ip := at.IP.To4(); ip[3] != 1 {
		at.IP = net.IPv4(192, 0, 2, ip[3])
	}
	return from{conn, &at}, nil
}

type from struct {
	net.Conn
	addr net.Addr
}

func (c from) RemoteAddr() net.Addr { return c.addr }

// TestOneAddressLeavesSeats: an address whose requests never end gets three quarters of the seats, and a second one is
// answered at once. Two of them leave seats for a third.
func TestOneAddressLeavesSeats(t *testing.T) {
	h := startHall(t, 16, never, never)
	for _, c := range []struct {
		ip    string
		seats int
	}{{"127.0.0.2", 12}, {"127.0.0.3", 15}} {
		for range 40 {
			conn := h.enterFrom(c.ip)
			go h.ask(conn, "/hold")
		}
		testkit.Until(t, "requests of "+c.ip+" have their share of the seats", func() bool { return h.holds(c.seats, 0) })
		for range 5 {
			conn := h.enterFrom("127.0.0.4")
			if !h.ask(conn, "/") {
				t.Fatalf("the other address is not answered beside %s", c.ip)
			}
			conn.Close()
		}
	}
	if n := h.logged.Load(); n != 1 {
		t.Errorf("%d lines were logged", n)
	}
}

// TestFullLineLetsOthersIn fills the line from one address: its newest connection is dropped for that of another one, which
// gets a seat.
func TestFullLineLetsOthersIn(t *testing.T) {
	h := startHall(t, 16, never, never)
	for range 12 + lineMax {
		conn := h.enterFrom("127.0.0.2")
		go h.ask(conn, "/hold")
	}
	testkit.Until(t, "the line is full", func() bool {
		h.listener.mu.Lock()
		defer h.listener.mu.Unlock()
		return len(h.listener.seats.line) == lineMax
	})
	last := h.enterFrom("127.0.0.2")
	if h.ask(last, "/") {
		t.Error("a connection beyond the line is answered")
	}
	if !h.ask(h.enterFrom("127.0.0.3"), "/") {
		t.Error("the line of one address kept another one out")
	}
}

// TestIdleOfTheGreediestIsClosed: what holds seats without a request is closed first for the address with most seats, and
// never for one that has more itself.
func TestIdleOfTheGreediestIsClosed(t *testing.T) {
	s := newSeats(8)
	few, many, other := s.sit("192.0.2.1", 1), s.sit("192.0.2.2", 5), s.sit("192.0.2.3", 2)
	for _, g := range append(append(few, other...), many...) {
		s.move(g, &s.idle)
	}
	later := time.Now().Add(time.Hour)
	for _, c := range []struct {
		of   *connection
		want *connection
	}{{few[0], many[0]}, {other[0], many[0]}, {many[0], many[0]}} {
		if got, _ := s.leaver(later, c.of.source, time.Second, time.Second); got != c.want {
			t.Errorf("for an address with %d seats one of an address with %d is closed", c.of.source.seats, got.source.seats)
		}
	}
	for _, g := range many {
		s.move(g, nil) // each has a request
	}
	if got, wait := s.leaver(later, many[0].source, time.Second, time.Minute); got != nil || wait <= 0 || wait > time.Second {
		t.Errorf("one of %d seats is closed for an address with %d; the next look is in %v", got.source.seats, many[0].source.seats, wait)
	}
}

// TestSeatsAreShared lets connections of a few addresses come and go at random, and counts anew after each step.
func TestSeatsAreShared(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	const most = 20
	s := newSeats(most)
	var seated []*connection
	for range 20_000 {
		switch r.IntN(3) {
		case 0:
			ip := "192.0.2." + strconv.Itoa(r.IntN(6))
			if dropped := s.join(new(connection), key(ip)); dropped != nil && dropped.source.seats+dropped.source.waiting+1 < s.worst() {
				t.Fatalf("a connection of an address with %d is dropped, and one has %d", dropped.source.seats+dropped.source.waiting+1, s.worst())
			}
		case 1:
			if next, isFree := s.first(); isFree {
				if s.taken == most || next.source.seats >= shareFactor*(most-s.taken) {
					t.Fatalf("an address with %d seats gets one of %d free ones", next.source.seats, most-s.taken)
				}
				s.seat(next)
				seated = append(seated, next)
			}
		case 2:
			if n := len(seated); n > 0 {
				i := r.IntN(n)
				s.free(seated[i])
				seated[i], seated = seated[n-1], seated[:n-1]
			}
		}
		s.check(t, len(seated))
	}
}

// lineMax is the length of the line in tests.
const lineMax = 256

// counted is seats for tests.
type counted struct{ seats }

func newSeats(most int) *counted {
	return &counted{seats{most: most, lineMost: lineMax, sources: make(map[sourceKey]*source)}}
}

func key(ip string) sourceKey { return keyOf(&net.TCPAddr{IP: net.ParseIP(ip)}) }

// sit gives an address so many seats.
func (s *counted) sit(ip string, n int) (seated []*connection) {
	for range n {
		g := new(connection)
		s.join(g, key(ip))
		s.seat(g)
		seated = append(seated, g)
	}
	return seated
}

// worst is the number of connections of the address with most.
func (s *counted) worst() (n int) {
	for _, of := range s.sources {
		n = max(n, of.seats+of.waiting)
	}
	return n
}

func (s *counted) check(t *testing.T, seated int) {
	t.Helper()
	sum, waiting := 0, 0
	for at, of := range s.sources {
		if of.seats < 0 || of.waiting < 0 || of.seats+of.waiting == 0 || at != of.key {
			t.Fatalf("%v has %d seats, and %d wait", at, of.seats, of.waiting)
		}
		sum, waiting = sum+of.seats, waiting+of.waiting
	}
	if sum != seated || s.taken != seated || seated > s.most || waiting != len(s.line) || waiting > lineMax {
		t.Fatalf("%d have a seat, %d are counted, by addresses %d; %d wait, by addresses %d", seated, s.taken, sum, len(s.line), waiting)
	}
}

// TestKeys: which addresses share one share.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true}, {"192.0.2.1", "192.0.2.2", false}, {"::ffff:192.0.2.1", "192.0.2.1", true},
		{"127.0.0.1", "127.9.9.9", true}, {"127.0.0.1", "::1", true}, {"2001:db8::1", "2001:db8::ffff:1", true}, {"2001:db8:0:1::1", "2001:db8:0:2::1", false},
	} {
		if (key(c.a) == key(c.b)) != c.same {
			t.Errorf("%s is %v, %s is %v; want them to be the same: %t", c.a, key(c.a), c.b, key(c.b), c.same)
		}
	}
	if at := keyOf(&net.UnixAddr{Name: "s"}); at != (sourceKey{}) {
		t.Errorf("what has no IP address has the key %v", at)
	}
}
