package server

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/testkit"
)

// exposureTable has a line for each combination of what protects a listener and what permits to do without, and in its
// last columns what becomes of an address beyond loopback: "ok", or why the start is refused. Every address on loopback
// is ok in each line.
//
//	open   refused: nothing protects it
//	auth   refused: there is TLS, or a proxy that does it, and no rights
//	clear  refused: there are rights and no TLS
const exposureTable = `
	rights tls password plaintext insecure   http  nats  peers
	-      -   -        -         -          open  open  open
	-      -   -        -         yes        ok    ok    ok
	-      -   -        yes       -          auth  auth  open
	-      -   -        yes       yes        ok    ok    ok
	-      -   yes      -         -          open  open  ok
	-      -   yes      -         yes        ok    ok    ok
	-      -   yes      yes       -          auth  auth  ok
	-      -   yes      yes       yes        ok    ok    ok
	-      yes -        -         -          auth  auth  ok
	-      yes -        -         yes        ok    ok    ok
	-      yes -        yes       -          auth  auth  ok
	-      yes -        yes       yes        ok    ok    ok
	-      yes yes      -         -          auth  auth  ok
	-      yes yes      -         yes        ok    ok    ok
	-      yes yes      yes       -          auth  auth  ok
	-      yes yes      yes       yes        ok    ok    ok
	yes    -   -        -         -          clear clear open
	yes    -   -        -         yes        ok    ok    ok
	yes    -   -        yes       -          ok    ok    open
	yes    -   -        yes       yes        ok    ok    ok
	yes    -   yes      -         -          clear clear ok
	yes    -   yes      -         yes        ok    ok    ok
	yes    -   yes      yes       -          ok    ok    ok
	yes    -   yes      yes       yes        ok    ok    ok
	yes    yes -        -         -          ok    ok    ok
	yes    yes -        -         yes        ok    ok    ok
	yes    yes -        yes       -          ok    ok    ok
	yes    yes -        yes       yes        ok    ok    ok
	yes    yes yes      -         -          ok    ok    ok
	yes    yes yes      -         yes        ok    ok    ok
	yes    yes yes      yes       -          ok    ok    ok
	yes    yes yes      yes       yes        ok    ok    ok
`

// refusals are the messages, without the address that they begin with.
var refusals = map[string]string{
	"http open":  " would be open to others: give --auth FILE and --http-tls-cert/--http-tls-key, or --insecure",
	"http auth":  " would be open to others: give --auth FILE, or --insecure",
	"http clear": " would be without TLS: give --http-tls-cert/--http-tls-key, or --plaintext if a proxy in front of it terminates TLS",
	"nats open":  " would be open to others: give --auth FILE and --listen-tls-cert/--listen-tls-key, or --insecure",
	"nats auth":  " would be open to others: give --auth FILE, or --insecure",
	"nats clear": " would be without TLS: give --listen-tls-cert/--listen-tls-key, or --plaintext if a proxy in front of it terminates TLS",
	"peers open": " would be open to others: give CARILLON_CLUSTER_PASSWORD or --cluster-password-file FILE, or --cluster-tls-cert/--cluster-tls-key/--cluster-tls-ca, or --insecure",
}

// Addresses that only this machine reaches, and others. A name is one of the others, whatever it resolves to.
var (
	loopbackHosts = []string{"127.0.0.1", "127.8.8.8", "[::1]", "[::ffff:127.0.0.1]", "localhost", "localhost.", "LocalHost"}
	beyondHosts   = []string{"0.0.0.0", "", "[::]", "10.0.0.1", "[fe80::1%eth0]", "[2001:db8::1]", "jobs.example.com", "ip6-localhost"}
)

// cell is a line of the table.
type cell struct {
	protection Options           // of a member of a cluster
	want       map[string]string // by listener
	name       string
}

func cells(t *testing.T) (all []cell) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(exposureTable), "\n")
	for _, line := range lines[1:] {
		f := strings.Fields(line)
		o := Options{ClusterName: "prod", Node: "a", Routes: []string{"b:6222"}, Plaintext: f[3] == "yes", Insecure: f[4] == "yes"}
		if f[0] == "yes" {
			o.Auth = "auth.yaml"
		}
		if f[1] == "yes" {
			o.HTTPTLS = certs.Files{Cert: "a.crt", Key: "a.key"}
			o.ListenTLS, o.ClusterTLS = o.HTTPTLS, certs.Files{Cert: "a.crt", Key: "a.key", CA: "ca.crt"}
		}
		if f[2] == "yes" {
			o.ClusterPassword = "tower"
		}
		all = append(all, cell{o, map[string]string{"http": f[5], "nats": f[6], "peers": f[7]}, strings.Join(f[:5], " ")})
	}
	if len(all) != 1<<5 {
		t.Fatalf("%d lines; want one for each combination", len(all))
	}
	return all
}

// listenAt sets the address of a listener.
func listenAt(o *Options, listener, addr string) {
	*map[string]*string{"http": &o.HTTPListen, "nats": &o.Listen, "peers": &o.ClusterListen}[listener] = addr
}

// TestExposure validates every cell: listener, address, rights, TLS, password, --plaintext and --insecure.
func TestExposure(t *testing.T) {
	for _, c := range cells(t) {
		for listener, want := range c.want {
			for _, host := range loopbackHosts {
				o := c.protection
				listenAt(&o, listener, host+":7000")
				if err := o.withDefaults().validate(); err != nil {
					t.Errorf("%s: %s on %s: %v", c.name, listener, host, err)
				}
			}
			for _, host := range beyondHosts {
				o := c.protection
				listenAt(&o, listener, host+":7000")
				checkRefusal(t, c.name+": "+listener, o.withDefaults().validate(), host+":7000", refusals[listener+" "+want])
			}
		}
	}
}

// checkRefusal checks the error of options with a listener on addr; want is "" if they are valid.
func checkRefusal(t *testing.T, what string, err error, addr, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s on %s: %v", what, addr, err)
	case want != "" && (err == nil || err.Error() != addr+want):
		t.Errorf("%s on %s: %v; want %s%s", what, addr, err, addr, want)
	}
}

// TestExposureOfAll: each listener has its own message, and --insecure names each.
func TestExposureOfAll(t *testing.T) {
	o := Options{
		ClusterName: "prod", Node: "a", Routes: []string{"b:6222"}, HTTPListen: ":7272", Listen: ":4222", ClusterListen: ":6222",
	}.withDefaults()
	testkit.Refuses(t, o.validate(), ":7272"+refusals["http open"], ":4222"+refusals["nats open"], ":6222"+refusals["peers open"])
	if text := o.insecurity(); text != "" {
		t.Errorf("without the flag: %s", text)
	}
	o.Insecure = true
	const want = "this server runs with --insecure: :7272 is open to others: every caller may do everything; " +
		":4222 is open to others: every caller may do everything; :6222 is open to others: every program that reaches it may join the cluster"
	if text := o.insecurity(); text != want || o.validate() != nil {
		t.Errorf("%s, %v; want %s", text, o.validate(), want)
	}
	o.Auth, o.ClusterPassword = "auth.yaml", "tower"
	if text := o.insecurity(); strings.Count(text, "is without TLS: tokens and data can be read on their way") != 2 {
		t.Errorf("with rights: %s", text)
	}
	if text := (Options{Insecure: true}).withDefaults().insecurity(); !strings.Contains(text, "leave the flag out") {
		t.Errorf("on loopback: %s", text)
	}
}

// TestNoListenerIsNotExposed: options that open no listener are not refused for its address. A node on outside NATS has
// none for NATS, and none for peers.
func TestNoListenerIsNotExposed(t *testing.T) {
	o := outsideOptions()
	o.Listen = "0.0.0.0:4222"
	if err := o.withDefaults().validate(); err != nil {
		t.Errorf("outside servers: %v", err)
	}
	o.HTTPListen = "0.0.0.0:7272"
	checkRefusal(t, "outside servers", o.withDefaults().validate(), o.HTTPListen, refusals["http open"])
	w := memberOptions()
	w.Witness, w.HTTPListen = true, "0.0.0.0:7272"
	checkRefusal(t, "a witness", w.withDefaults().validate(), w.HTTPListen, refusals["http open"])
	w = memberOptions()
	w.Witness, w.ClusterListen = true, "0.0.0.0:6222"
	checkRefusal(t, "a witness", w.withDefaults().validate(), w.ClusterListen, refusals["peers open"])
	p := Options{ProfileListen: "0.0.0.0:6060", Insecure: true}
	testkit.Refuses(t, p.withDefaults().validate(), "profiles on 0.0.0.0:6060 would be open to others")
}

// TestBadListen: what is no address is refused as such.
func TestBadListen(t *testing.T) {
	for _, addr := range []string{"7272", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:70000", "::1:7272"} {
		testkit.Refuses(t, Options{HTTPListen: addr}.withDefaults().validate(), `--http-listen is "`+addr+`"`, "such as 127.0.0.1:7272")
		testkit.Refuses(t, Options{Listen: addr}.withDefaults().validate(), `--listen is "`+addr+`"`)
	}
}

// TestLocalhostIsLoopback: the name is replaced by the address, so that no resolver decides where the server listens.
func TestLocalhostIsLoopback(t *testing.T) {
	o := Options{Listen: "localhost:4222", HTTPListen: "localhost:0", ProfileListen: "LocalHost.:6060", ClusterListen: "[::1]:6222"}
	o.pinLocalhost()
	if o.Listen != "127.0.0.1:4222" || o.HTTPListen != "127.0.0.1:0" || o.ProfileListen != "127.0.0.1:6060" || o.ClusterListen != "[::1]:6222" {
		t.Errorf("%+v", o)
	}
}

// TestHTTPHosts: names are compared in lower case; beyond loopback there are none but those given.
func TestHTTPHosts(t *testing.T) {
	for _, c := range []struct {
		listen string
		given  []string
		want   []string
	}{
		{"127.0.0.1:7272", nil, []string{"localhost"}},
		{"0.0.0.0:7272", nil, nil},
		{"127.0.0.1:7272", []string{"a.example.com"}, []string{"a.example.com"}},
		{":7272", []string{"Jobs.Example.com.", "localhost", "10.0.0.1"}, []string{"jobs.example.com", "localhost", "10.0.0.1"}},
	} {
		o := Options{HTTPListen: c.listen, HTTPHosts: c.given, Insecure: true}.withDefaults()
		if got := o.httpHosts(); fmt.Sprint(got) != fmt.Sprint(c.want) || o.validate() != nil {
			t.Errorf("%s, %q: %q, %v; want %q", c.listen, c.given, got, o.validate(), c.want)
		}
	}
	for _, name := range []string{"", "a:7272", "https://a", "*.example.com", "a b", "[::1]"} {
		testkit.Refuses(t, Options{HTTPHosts: []string{"a", name}}.withDefaults().validate(), fmt.Sprintf("--http-hosts has %q", name))
	}
}

// TestWarnsHourly counts the warnings of some hours.
func TestWarnsHourly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(testkit.Buffer)
		ctx, cancel := context.WithCancel(t.Context())
		go warnEvery(ctx, slog.New(slog.NewTextHandler(log, nil)), "it is open", insecureEvery)
		for hours, wait := range []time.Duration{59 * time.Minute, time.Hour, 3 * time.Hour} {
			testkit.Pass(wait)
			if got, want := strings.Count(log.String(), "level=WARN msg=\"it is open\""), []int{0, 1, 4}[hours]; got != want {
				t.Errorf("%d warnings; want %d", got, want)
			}
		}
		cancel()
		synctest.Wait()
	})
}
