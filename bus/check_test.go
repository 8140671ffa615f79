package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// TestWarnings: for each weakness of NATS there is exactly one warning.
func TestWarnings(t *testing.T) {
	good := serverFacts{Name: "n1", Version: "2.12.0", Sync: syncAlways}
	late := serverFacts{Name: "n2", Version: "2.14.9", Sync: syncLate}
	unknown := serverFacts{Name: "n3", Version: "2.15.2", Sync: syncUnknown}
	old := serverFacts{Name: "n4", Version: "2.11.16", Sync: syncAlways}
	for _, tt := range []struct {
		name  string
		facts Facts
		want  []string // a part of each warning
	}{
		{"three good servers", Facts{Servers: []serverFacts{good}, Members: 3, Clustered: true}, nil},
		{"five of them", Facts{Servers: []serverFacts{good}, Members: 5, Clustered: true}, nil},
		{"how many is not known", Facts{Servers: []serverFacts{good}, Clustered: true}, nil},
		{"two servers", Facts{Servers: []serverFacts{good}, Members: 2, Clustered: true}, []string{"two servers with JetStream: when either dies"}},
		{"one server", Facts{Servers: []serverFacts{good}, Members: 1}, []string{"one server with JetStream"}},
		{"one server, by its looks", Facts{Servers: []serverFacts{good}}, []string{"one server with JetStream"}},
		{"one late server", Facts{Servers: []serverFacts{good, late, unknown}, Members: 3, Clustered: true}, []string{"not synced to disk (n2 2.14.9): set"}},
		{"nothing is known", Facts{Servers: []serverFacts{unknown}, Clustered: true}, []string{"cannot be seen from here whether NATS servers sync to disk what they acknowledge (n3 2.15.2, and"}},
		{"an old server", Facts{Servers: []serverFacts{good, old}, Members: 3, Clustered: true}, []string{"older than 2.12, with which a cluster is not tested (n4 2.11.16)"}},
		{"all at once", Facts{Servers: []serverFacts{late, old}, Members: 2, Clustered: true}, []string{"two servers", "not synced", "older"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantWarnings(t, tt.facts.warnings(), tt.want)
		})
	}
}

// wantWarnings checks that the warnings are exactly these.
func wantWarnings(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.EqualFunc(got, want, strings.Contains) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAnswersOfServers: the answers of three servers, one of which has no JetStream, and one of which knows a
// fourth server.
func TestAnswersOfServers(t *testing.T) {
	connected := serverFacts{Name: "n3", Version: "2.15.2"}
	var answers []serverAnswer
	for _, text := range []string{
		`{"server":{"name":"n2","ver":"2.14.9"},"data":{"config":{"sync_always":true},"meta_cluster":{"cluster_size":3}}}`,
		`{"server":{"name":"n1","ver":"2.15.2"},"data":{"config":{}}}`,
		`{"server":{"name":"n3","ver":"2.15.2"},"data":{"disabled":true,"config":{}}}`,
		`{"server":{"name":"n5","ver":"2.15.2"},"error":{"code":500}}`,
	} {
		var a serverAnswer
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	var f Facts
	f.evaluate(answers, connected)
	want := []serverFacts{{"n1", "2.15.2", syncLate}, {"n2", "2.14.9", syncAlways}}
	if !slices.Equal(f.Servers, want) || f.Members != 3 {
		t.Errorf("got %+v of %d members, want %+v of 3", f.Servers, f.Members, want)
	}
	var silent Facts
	silent.evaluate(nil, connected)
	if !slices.Equal(silent.Servers, []serverFacts{connected}) || silent.Members != 0 {
		t.Errorf("without an answer: %+v", silent)
	}
}

func TestReplicasFollowTheServers(t *testing.T) {
	for _, tt := range []struct {
		facts        Facts
		wanted, want int
	}{
		{Facts{Members: 1}, 0, 1}, {Facts{Members: 2, Clustered: true}, 0, 1},
		{Facts{Members: 3, Clustered: true}, 0, 3}, {Facts{Members: 7, Clustered: true}, 0, 3},
		{Facts{}, 0, 1}, {Facts{Clustered: true}, 0, 3},
		{Facts{Members: 7, Clustered: true}, 5, 5}, {Facts{Members: 3, Clustered: true}, 1, 1},
	} {
		if got := tt.facts.Replicas(tt.wanted); got != tt.want {
			t.Errorf("%+v, wanted %d: got %d, want %d", tt.facts, tt.wanted, got, tt.want)
		}
	}
}

func TestSmallPayloadIsRefused(t *testing.T) {
	testkit.Refuses(t, Facts{PayloadMax: 1<<20 - 1}.Validate(), "at most 1048575 bytes", "max_payload to at least 1048576")
	if err := (Facts{PayloadMax: 1 << 20}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"2.11.4": true, "2.9.0": true, "1.4.1": true, "v2.11.0-RC.1": true, "2.12.0": false, "2.15.2": false,
		"3.0.0": false, "2.12": false, "": false, "dev": false, "2": false, "a.b.c": false,
	} {
		if got := isOld(version); got != want {
			t.Errorf("%q is old: %t, want %t", version, got, want)
		}
	}
}

// openOutside opens the bus of a node on outside servers.
func openOutside(t *testing.T, url string) (*Bus, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	b, err := Open(ctx, Options{ClusterName: "prod", URL: url, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		t.Cleanup(b.Close)
	}
	return b, err
}

// TestCheckOfOutsideServers checks real servers: with an ordinary account, and with one that imports the
// service of the system account.
func TestCheckOfOutsideServers(t *testing.T) {
	t.Parallel()
	const accounts = `
accounts {
	SYS: { users: [{user: sys, password: p}], exports: [{service: "$SYS.REQ.SERVER.PING.JSZ", response_type: stream}] }
	APP: { jetstream: enabled, users: [{user: app, password: p}], imports: [{service: {account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ"}}] }
}
system_account: SYS
`
	const one = "one server with JetStream"
	for _, tt := range []struct {
		name, config, user string
		err                string
		want               []string
	}{
		{"ordinary", `server_name: plain, jetstream { store_dir: "%s" }`, "", "", []string{one, "cannot be seen from here whether NATS servers sync to disk what they acknowledge (plain " + server.VERSION}},
		{"late, and seen", `server_name: late, jetstream { store_dir: "%s" }` + accounts, "app:p@", "", []string{one, "not synced to disk (late " + server.VERSION}},
		{"synced, and seen", `server_name: good, jetstream { store_dir: "%s", sync_interval: always }` + accounts, "app:p@", "", []string{one}},
		{"small messages", `max_payload: 512KB, jetstream { store_dir: "%s" }`, "", "at most 524288 bytes", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := bustest.Run(t, tt.config)
			b, err := openOutside(t, fmt.Sprintf("nats://%s%s", tt.user, s.Addr()))
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.Check(t.Context(), quietly(t, b))
			if tt.err != "" {
				testkit.Refuses(t, err, tt.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantWarnings(t, got, tt.want)
		})
	}
}

// TestClusterWithoutJetStream: servers that can never carry a cluster are refused at once, with the reason.
func TestClusterWithoutJetStream(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, config, user, want string }{
		{"none on the server", `server_name: bare`, "", "does not have; enable it there"},
		{"none for the account", `
jetstream { store_dir: "%s" }
accounts { BARE: { users: [{user: u, password: p}] }, APP: { jetstream: enabled } }`, "u:p@", "enable it for the account"},
		{"no permission", `
jetstream { store_dir: "%s" }
authorization { users: [{user: u, password: p, permissions: {publish: ["carillon.>"], subscribe: [">"]}}] }`, "u:p@", "allow it to publish to $JS.API.>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := bustest.Run(t, tt.config)
			began := time.Now()
			_, err := openOutside(t, fmt.Sprintf("nats://%s%s", tt.user, s.Addr()))
			testkit.Refuses(t, err, tt.want)
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("it took %s to say so", took)
			}
		})
	}
}

// quietly returns a connection for questions that NATS may refuse.
func quietly(t *testing.T, b *Bus) *nats.Conn {
	t.Helper()
	nc, err := b.connectQuietly("carillon check")
	if err != nil {
		t.Fatal(err)
	}
	return nc
}
