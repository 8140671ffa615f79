package bus

import (
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/testkit"
)

// embedPeers starts the embedded servers of nodes, which wait for nothing. They end with the test.
func embedPeers(t *testing.T, nodes ...Options) (buses []*Bus) {
	t.Helper()
	for _, o := range nodes {
		b, err := Embed(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		buses = append(buses, b)
	}
	return buses
}

// embedPeer starts one of them, and returns what it logs.
func embedPeer(t *testing.T, o Options) (*Bus, *testkit.Buffer) {
	log := new(testkit.Buffer)
	o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return embedPeers(t, o)[0], log
}

// routes returns how many connections to peers a server has.
func routes(b *Bus) int {
	state, _ := b.Embedded()
	return state.Routes
}

// impostor listens at the address of a node that is down, and records what it is sent.
type impostor struct {
	got  testkit.Buffer
	came chan struct{} // a connection has ended
}

// listenAt makes an impostor, which speaks as a peer does.
func listenAt(t *testing.T, addr string, speak func(net.Conn) io.Reader) *impostor {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	i := &impostor{came: make(chan struct{}, 1000)}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(handshakeMax))
			_, _ = io.Copy(&i.got, io.TeeReader(speak(conn), &i.got))
			_ = conn.Close()
			i.came <- struct{}{}
		}
	}()
	return i
}

// TestNobodyIsSentThePassword: whoever listens at the address of a node that is down is not sent the password, in whatever
// way it speaks, and does not become a peer. The warning says what it looks like.
func TestNobodyIsSentThePassword(t *testing.T) {
	t.Parallel()
	const info = "INFO {\"server_id\":\"NX\",\"server_name\":\"b\",\"version\":\"2.15.2\",\"proto\":1,\"headers\":true,\"cluster\":\"prod\",\"auth_required\":true,\"max_payload\":4194304}\r\n"
	pair := certstest.Pair(t, certstest.NewAuthority(t), certstest.Node("b"))
	guess, err := certs.PeersOfPassword("another password", "prod")
	if err != nil {
		t.Fatal(err)
	}
	inTLS := func(c *tls.Config) func(net.Conn) io.Reader {
		return func(conn net.Conn) io.Reader {
			secured := tls.Server(conn, c)
			_, _ = io.WriteString(secured, info) // after the handshake
			return secured
		}
	}
	for name, c := range map[string]struct {
		speak func(net.Conn) io.Reader
		want  string
	}{
		"plain": {func(conn net.Conn) io.Reader {
			_, _ = io.WriteString(conn, info)
			return conn
		}, "the peer at 127.0.0.1 does not speak TLS"},
		"silent":           {func(conn net.Conn) io.Reader { return conn }, ""},
		"with TLS":         {inTLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert}), "shows a certificate that does not come from a password"},
		"another password": {inTLS(guess), "the peer at 127.0.0.1 has another password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := nodeOptions(t, 2)
			nodes[0].ClusterPassword = "the password of all nodes"
			them := listenAt(t, nodes[1].ClusterListen, c.speak)
			b, log := embedPeer(t, nodes[0])
			for range 3 {
				testkit.Receive(t, them.came)
			}
			if got := them.got.String(); strings.Contains(got, nodes[0].ClusterPassword) || strings.Contains(got, "CONNECT") {
				t.Errorf("it was sent %q", got)
			} else if got == "" && name != "with TLS" && name != "another password" {
				t.Error("nothing came; want the beginning of a handshake")
			}
			if routes(b) != 0 {
				t.Error("it is a peer")
			}
			if c.want != "" {
				warns(t, b, log, c.want)
			}
		})
	}
}

// warns: the log and the warnings of a server have a text.
func warns(t *testing.T, b *Bus, log *testkit.Buffer, text string) {
	t.Helper()
	testkit.Until(t, "there is a warning: "+text, func() bool {
		return slices.ContainsFunc(b.Strangers(), func(w string) bool { return strings.Contains(w, text) }) && strings.Contains(log.String(), text)
	})
	if strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("there are errors besides: %s", log)
	}
}

// TestOpenServerIsNoPeer: a NATS server that lets everybody in, at the address of a node that is down, receives nothing.
func TestOpenServerIsNoPeer(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 2)
	host, port, err := splitAddr(nodes[1].ClusterListen)
	if err != nil {
		t.Fatal(err)
	}
	theirs := bustest.RunWith(t, &server.Options{Cluster: server.ClusterOpts{Name: "prod", Host: host, Port: port}, Routes: server.RoutesFromStr("nats-route://" + nodes[0].ClusterListen)})
	b, log := embedPeer(t, nodes[0])
	warns(t, b, log, "does not speak TLS and is not let in")
	if routes(b) != 0 || theirs.NumRoutes() != 0 {
		t.Errorf("%d and %d routes", routes(b), theirs.NumRoutes())
	}
}

// TestPasswordsOfPeers: two nodes become peers if they have one password and one name of the cluster. Otherwise neither lets the
// other in, whichever of them connects, and both say what is wrong.
func TestPasswordsOfPeers(t *testing.T) {
	t.Parallel()
	const another, refuses, plain, open = "has another password of the cluster", "does not accept the password of this node", "does not speak TLS", "proves by TLS who it is, and this node does not"
	const files, password, refused = "shows a certificate that does not come from a password, and this node has no --cluster-tls-*", "has the password of the cluster and no --cluster-tls-*, and this node has these", "does not accept the certificate of this node"
	useFiles := func(o *Options) { o.ClusterPassword, o.ClusterTLS = "", peersOfFiles(t) }
	for name, c := range map[string]struct {
		change   func(*Options)
		dial     string   // which of the two connect
		ofA, ofB []string // what they say
		arePeers bool
	}{
		"the same":                  {func(*Options) {}, "ab", nil, nil, true},
		"another":                   {func(o *Options) { o.ClusterPassword = "bell" }, "ab", []string{another, refuses}, []string{another, refuses}, false},
		"another, a connects":       {func(o *Options) { o.ClusterPassword = "bell" }, "a", []string{another}, []string{refuses}, false},
		"another, b connects":       {func(o *Options) { o.ClusterPassword = "bell" }, "b", []string{refuses}, []string{another}, false},
		"none, a connects":          {func(o *Options) { o.ClusterPassword = "" }, "a", []string{plain}, []string{open}, false},
		"none, b connects":          {func(o *Options) { o.ClusterPassword = "" }, "b", []string{plain}, []string{open + ", so neither lets the other in: start this node with what the others have, CARILLON_CLUSTER_PASSWORD"}, false},
		"another name, a and b":     {func(o *Options) { o.ClusterName = "staging" }, "ab", []string{another, refuses}, []string{another, refuses}, false},
		"certificates, a connects":  {useFiles, "a", []string{files}, []string{refused}, false},
		"certificates, b connects":  {useFiles, "b", []string{refuses}, []string{password}, false},
		"certificates and password": {func(o *Options) { o.ClusterTLS = peersOfFiles(t) }, "b", []string{refuses}, []string{password}, false},
		"certificates of others":    {useFiles, "ab", []string{files}, []string{password}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := nodeOptions(t, 2)
			c.change(&nodes[1])
			for i := range nodes {
				if !strings.Contains(c.dial, nodes[i].Node) {
					nodes[i].Routes = []string{nodes[i].ClusterListen} // itself
				}
			}
			a, ofA := embedPeer(t, nodes[0])
			b, ofB := embedPeer(t, nodes[1])
			if c.arePeers {
				testkit.Until(t, "they are peers", func() bool { return routes(a) > 0 && routes(b) > 0 })
				if len(a.Strangers())+len(b.Strangers()) != 0 {
					t.Errorf("warnings of peers: %q, %q", a.Strangers(), b.Strangers())
				}
				return
			}
			for _, text := range c.ofA {
				warns(t, a, ofA, text)
			}
			for _, text := range c.ofB {
				testkit.Until(t, "b says: "+text, func() bool { return strings.Contains(fmt.Sprint(b.Strangers(), ofB), text) })
			}
			if routes(a) != 0 || routes(b) != 0 {
				t.Errorf("%d and %d routes", routes(a), routes(b))
			}
		})
	}
}

// peersOfFiles is the TLS of a node with certificates of its own authority.
func peersOfFiles(t *testing.T) *tls.Config {
	k, err := certs.Open(certs.Options{Name: "cluster", Peers: true, Logger: slog.New(slog.DiscardHandler),
		Files: certstest.Files(t, certstest.NewAuthority(t), certstest.Node("b"))})
	if err != nil {
		t.Fatal(err)
	}
	return k.Peers()
}

// TestStrangersAreBounded: warnings end when nothing more comes, and are few, whoever tries the port.
func TestStrangersAreBounded(t *testing.T) {
	s := &strangers{proof: proofPassword}
	now := time.Now()
	line := func(addr string, at time.Time) slog.Level {
		text, level := s.note(addr+routeMark+"7 - "+routeHandshakeError+": no", []any{tls.RecordHeaderError{Msg: "no"}}, at)
		if !strings.Contains(text, "does not speak TLS") {
			t.Fatalf("%q", text)
		}
		return level
	}
	for i := range 100 {
		line(fmt.Sprintf("10.0.0.%d:1", i), now.Add(time.Duration(i)*time.Millisecond))
	}
	if found := s.warnings(now.Add(time.Second)); len(found) != strangersMax {
		t.Errorf("%d warnings; want %d", len(found), strangersMax)
	}
	if found := s.warnings(now.Add(strangerFor + time.Second)); len(found) != 0 {
		t.Errorf("%q, although nothing more has come", found)
	}
	logged := 0
	for i := range 60 { // once a second
		if line("[fd00::1]:6222", now.Add(time.Hour+time.Duration(i)*time.Second)) == slog.LevelWarn {
			logged++
		}
	}
	if logged != 1 {
		t.Errorf("%d lines in a minute", logged)
	}
	for _, other := range []string{"no address", "127.0.0.1:1 - cid:7 - " + handshakeError, "127.0.0.1:1" + routeMark + "7 - Duplicate Route"} {
		if text, _ := s.note(other, nil, now); text != "" {
			t.Errorf("%s: %s", other, text)
		}
	}
	if text, _ := (*strangers)(nil).note("", nil, now); text != "" {
		t.Error("without peers there is a stranger")
	}
}

// TestStrangersInDoubt: connections of peers that end in something that is no greeting, all at once, are those that waited
// while this node stood still. A peer that speaks TLS comes again each second.
func TestStrangersInDoubt(t *testing.T) {
	s := &strangers{proof: proofNone}
	now := time.Now()
	line := func(at time.Time) slog.Level {
		text, level := s.note("10.0.0.1:4000"+routeMark+"7 - "+authErrorOfRoutes, nil, at)
		if !strings.Contains(text, "proves by TLS who it is") {
			t.Fatalf("%q", text)
		}
		return level
	}
	for i := range 4 {
		if line(now.Add(time.Duration(i)*time.Millisecond)) != slog.LevelDebug {
			t.Error("connections that end at once are taken for a peer that speaks TLS")
		}
	}
	if found := s.warnings(now.Add(time.Second)); len(found) != 0 {
		t.Errorf("%q", found)
	}
	if line(now.Add(time.Second)) != slog.LevelWarn || len(s.warnings(now.Add(time.Second))) != 1 {
		t.Error("a peer that comes again is not told")
	}
	if line(now.Add(time.Hour)) != slog.LevelDebug {
		t.Error("an hour later the doubt does not begin anew")
	}
}
