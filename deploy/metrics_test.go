package deploy

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	dto "github.com/prometheus/client_model/go"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// metrics are what a server shows: for each metric its labels, and for each label its values.
type metrics map[string]map[string]map[string]bool

// scrape starts a node of a cluster, lets a job fire so that there is a lateness to show, and returns what
// it shows then.
func scrape(t *testing.T) (m metrics) {
	t.Helper()
	s := serve(t, server.Options{NATSURL: runNATS(t), ClusterName: "prod", Node: "a", Lead: time.Second})
	testkit.Until(t, "a job has fired", func() bool {
		m = readMetrics(t, s.Ready().HTTP+"/metrics")
		return m["carillon_lateness_seconds"] != nil && m["carillon_decision_lateness_seconds"] != nil
	})
	return m
}

// add adds what another server shows.
func (m metrics) add(all map[string]*dto.MetricFamily) {
	for name, family := range all {
		if m[name] == nil {
			m[name] = map[string]map[string]bool{}
		}
		for _, one := range family.GetMetric() {
			for _, l := range one.GetLabel() {
				if m[name][l.GetName()] == nil {
					m[name][l.GetName()] = map[string]bool{}
				}
				m[name][l.GetName()][l.GetValue()] = true
			}
		}
	}
}

// serve starts a server with some options, which ends with the test, and a job that is due ten times a second.
func serve(t *testing.T, opts server.Options) *server.Server {
	t.Helper()
	opts.Dir, opts.HTTPListen, opts.Logger = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0", slog.New(slog.DiscardHandler)
	s, err := server.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	fire(t, s.Ready().NATS)
	return s
}

// runNATS starts a server with JetStream and returns its address.
func runNATS(t *testing.T) string {
	t.Helper()
	s := bustest.RunWith(t, &natsserver.Options{ServerName: "n1", JetStream: true, StoreDir: t.TempDir(), MaxPayload: 4 << 20})
	return s.ClientURL()
}

// fire registers a job that is due ten times a second.
func fire(t *testing.T, url string) {
	t.Helper()
	_, c := clienttest.Connect(t, url)
	job := client.Job{Name: "often", Schedule: "@every 100ms", Target: client.Target{Kind: "nats", Subject: "often"}}
	if _, _, err := c.Put(t.Context(), job); err != nil {
		t.Fatal(err)
	}
}

var (
	sample = regexp.MustCompile(`(?m)^([a-z0-9_]+)(?:\{(.*)\})? `)
	label  = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

func readMetrics(t *testing.T, url string) metrics {
	t.Helper()
	m := metrics{}
	for _, found := range sample.FindAllStringSubmatch(testkit.Get(t, url).Body, -1) {
		if m[found[1]] == nil {
			m[found[1]] = map[string]map[string]bool{}
		}
		for _, l := range label.FindAllStringSubmatch(found[2], -1) {
			if m[found[1]][l[1]] == nil {
				m[found[1]][l[1]] = map[string]bool{}
			}
			m[found[1]][l[1]][l[2]] = true
		}
	}
	return m
}

var (
	selector = regexp.MustCompile(`\b((?:carillon|process|go)_[a-z0-9_]+)\b(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)(=~|!=|=|!~)"([^"]*)"`)
	// telling are the labels all of whose values a server shows from the beginning.
	telling = map[string]bool{"reason": true, "quantile": true, "shard": true}
)

// check finds fault with the metrics of an expression: each must be there, with the labels that are asked
// for, and the values where these are known.
func (m metrics) check(expr string) (faults []string) {
	for _, found := range selector.FindAllStringSubmatch(expr, -1) {
		labels, ok := m[found[1]]
		if !ok {
			faults = append(faults, "there is no "+found[1])
			continue
		}
		for _, asked := range matcher.FindAllStringSubmatch(found[2], -1) {
			name := asked[1]
			if name == "job" || name == "instance" {
				continue // from Prometheus
			}
			if labels[name] == nil {
				faults = append(faults, fmt.Sprintf("%s has no label %s", found[1], name))
				continue
			}
			for value := range strings.SplitSeq(asked[3], "|") {
				if telling[name] && !labels[name][value] {
					faults = append(faults, fmt.Sprintf("%s has no %s %q", found[1], name, value))
				}
			}
		}
	}
	return faults
}

// TestCheckFindsFaults: a check that finds nothing proves nothing unless it can find something.
func TestCheckFindsFaults(t *testing.T) {
	m := metrics{"carillon_x_total": {"reason": {"missed": true}}}
	for expr, want := range map[string]int{
		`rate(carillon_x_total[5m]) > 0`:                          0,
		`carillon_x_total{reason="missed", job="a"}`:              0,
		`carillon_y_total / carillon_x_total`:                     1,
		`carillon_x_total{verb="x"}`:                              1,
		`carillon_x_total{reason=~"missed|late"}`:                 1,
		`carillon_z{reason="missed"} and go_nothing`:              2,
		`sum by (job) (node_filesystem_avail_bytes) / up{job=""}`: 0,
	} {
		if faults := m.check(expr); len(faults) != want {
			t.Errorf("%s: %q; want %d faults", expr, faults, want)
		}
	}
}

// shardless finds fault with an expression that asks for metrics of shards, and counts or joins them without their label. Such an
// expression takes one shard for another as soon as a node has several.
func (m metrics) shardless(expr string) (faults []string) {
	ofShards := false
	for _, found := range selector.FindAllStringSubmatch(expr, -1) {
		ofShards = ofShards || m[found[1]]["shard"] != nil
	}
	if !ofShards {
		return nil
	}
	for _, found := range grouping.FindAllStringSubmatch(expr, -1) {
		labels := strings.FieldsFunc(found[2], func(r rune) bool { return r == ',' || r == ' ' })
		if !slices.Contains(labels, "shard") {
			faults = append(faults, fmt.Sprintf("%s: want the label shard", found[0]))
		}
	}
	return faults
}

// grouping finds joins and counts. The sum, the greatest or the least of several shards may be meant.
var grouping = regexp.MustCompile(`\b(on|ignoring|count by)\s*\(([^)]*)\)`)

// TestShardlessFindsFaults: as TestCheckFindsFaults.
func TestShardlessFindsFaults(t *testing.T) {
	m := metrics{"carillon_x": {"shard": {"0": true}}, "carillon_y": {}}
	for expr, want := range map[string]int{
		`count by (job) (carillon_x) > 1`:                          1,
		`count by (job, shard) (carillon_x) > 1`:                   0,
		`carillon_x < 1 and on (job, instance) carillon_x == 0`:    1,
		`carillon_y < 1 and on (job, instance) carillon_y == 0`:    0,
		`max by (job) (carillon_x) and on (job, shard) carillon_x`: 0,
	} {
		if faults := m.shardless(expr); len(faults) != want {
			t.Errorf("%s: %q; want %d faults", expr, faults, want)
		}
	}
}

// TestRulesKnowShards scrapes a node of a cluster of several shards: the metrics whose label shard comes with these, too, are asked
// for by shard.
func TestRulesKnowShards(t *testing.T) {
	m := metrics{}
	m.add(scrapeFamilies(t, server.Options{NATSURL: runNATS(t), ClusterName: "prod", Node: "a", Lead: time.Second, Shards: 4}))
	if n := len(m["carillon_shard_info"]["shard"]); n != 4 || m["carillon_lease_trust_seconds"]["shard"] == nil {
		t.Fatalf("the node shows %d shards, and the labels %v of its trust", n, m["carillon_lease_trust_seconds"])
	}
	meant := map[string]string{
		"CarillonNoLeader":        "it also fires if no node shows shards",
		"Shards without a leader": "it has no value if no node shows shards",
		"Standbys":                "it counts nodes",
		"Who leads":               "it counts the shards of a node",
	}
	check := func(name, expr string) {
		if faults := m.shardless(expr); (len(faults) > 0) != (meant[name] != "") {
			t.Errorf("%s: %q; meant: %q", name, faults, meant[name])
		}
	}
	for _, r := range rules(t) {
		check(r.Alert, r.Expr)
	}
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
		}
	}
}

// TestMetricsExist scrapes a real server, and looks for what the alerts and the dashboard ask of it.
func TestMetricsExist(t *testing.T) {
	m := scrape(t)
	m.add(scrapeQuotas(t))
	m.add(scrapeFamilies(t, server.Options{Listen: "127.0.0.1:0", HTTPTLS: certstest.Files(t, certstest.NewAuthority(t), certstest.Node("a"))}))
	asked := 0
	for _, r := range rules(t) {
		for _, fault := range m.check(r.Expr) {
			t.Errorf("alert %s: %s", r.Alert, fault)
		}
		asked++
	}
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			for _, fault := range m.check(target.Expr) {
				t.Errorf("panel %q: %s", p.Title, fault)
			}
			asked++
		}
	}
	if asked < 50 {
		t.Fatalf("%d expressions; want 50 or more", asked)
	}
}
