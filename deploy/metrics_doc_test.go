package deploy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// TestMetricsAreListed holds the table of docs/metrics.md to what servers show: a node of a cluster that uses a NATS of
// others, one alone with its own, one with TLS, and one with quotas. Each metric is in the table, with its type and its
// labels, and the table has no other.
func TestMetricsAreListed(t *testing.T) {
	shown := make(map[string]string)
	secured := certstest.Files(t, certstest.NewAuthority(t), certstest.Node("a"))
	for _, opts := range []server.Options{
		{NATSURL: runNATS(t), ClusterName: "prod", Node: "a", Lead: time.Second},
		{Listen: "127.0.0.1:0"},
		{Listen: "127.0.0.1:0", HTTPTLS: secured},
	} {
		maps.Copy(shown, describe(scrapeFamilies(t, opts)))
	}
	maps.Copy(shown, describe(scrapeQuotas(t)))
	listed := listedMetrics(t)
	for name, facts := range shown {
		if listed[name] != facts {
			t.Errorf("%s is %q in the table; a server shows %q", name, listed[name], facts)
		}
	}
	for name := range listed {
		if shown[name] == "" {
			t.Errorf("%s is in the table, and no server shows it", name)
		}
	}
}

// scrapeFamilies starts a server, lets a job fire, and returns what the server shows then.
func scrapeFamilies(t *testing.T, opts server.Options) (all map[string]*dto.MetricFamily) {
	t.Helper()
	s := serve(t, opts)
	testkit.Until(t, "a job has fired", func() bool {
		all = readFamilies(t, s.Ready().HTTP+"/metrics")
		return all["carillon_lateness_seconds"] != nil && all["carillon_decision_lateness_seconds"] != nil
	})
	return all
}

// anyServer is a client that trusts every certificate.
var anyServer = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// scrapeQuotas starts a server with a tenant that has every quota, and returns what it shows.
func scrapeQuotas(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	dir := t.TempDir()
	rights := filepath.Join(dir, "rights.yaml")
	err := os.WriteFile(rights, []byte(`tenants: {a: {quota: {jobs: 1, bytes: 1GiB, rate: 1/s, live_runs: 1, in_flight: 1, streams: 1, calendars: 1}}}
principals: [{name: p, token_sha256: "`+access.HashToken("secret")+`", grants: [{role: metrics}]}]
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(t.Context(), server.Options{Dir: filepath.Join(dir, "data"), Auth: rights, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return readFamiliesAs(t, s.Ready().HTTP+"/metrics", "secret")
}

func readFamilies(t *testing.T, url string) map[string]*dto.MetricFamily {
	t.Helper()
	return readFamiliesAs(t, url, "")
}

// readFamiliesAs reads the metrics as the principal with a token; "": as one without.
func readFamiliesAs(t *testing.T, url, token string) map[string]*dto.MetricFamily {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	reply, err := anyServer.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	decoder := expfmt.NewDecoder(reply.Body, expfmt.ResponseFormat(reply.Header))
	all := make(map[string]*dto.MetricFamily)
	for {
		f := new(dto.MetricFamily)
		switch err := decoder.Decode(f); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all[f.GetName()] = f
	}
}

// describe returns type and labels of the metrics that are ours.
func describe(all map[string]*dto.MetricFamily) map[string]string {
	facts := make(map[string]string)
	for name, f := range all {
		if !strings.HasPrefix(name, "carillon_") {
			continue // as in every program in Go
		}
		labels := make(map[string]bool)
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = true
			}
		}
		facts[name] = strings.ToLower(f.GetType().String()) + ": " + strings.Join(slices.Sorted(maps.Keys(labels)), ", ")
	}
	return facts
}

// listedRow is a line of the table: name, type, unit, labels, meaning.
var listedRow = regexp.MustCompile("(?m)^\\| `(carillon_[a-z0-9_]+)` \\| ([a-z]+) \\| ([^|]*) \\| ([^|]*) \\| ([^|]+) \\|$")

// listedMetrics reads the table, and checks that the unit is the one that the name ends with.
func listedMetrics(t *testing.T) map[string]string {
	t.Helper()
	listed := make(map[string]string)
	for _, row := range listedRow.FindAllStringSubmatch(read(t, "docs", "metrics.md"), -1) {
		name, kind, unit := row[1], row[2], strings.TrimSpace(row[3])
		labels := strings.Split(strings.NewReplacer("`", "", " ", "").Replace(row[4]), ",")
		if slices.Sort(labels); listed[name] != "" {
			t.Errorf("%s is in the table twice", name)
		}
		listed[name] = fmt.Sprintf("%s: %s", kind, strings.Join(labels, ", "))
		if kind == "counter" != strings.HasSuffix(name, "_total") {
			t.Errorf("%s is a %s", name, kind)
		}
		for _, base := range []string{"seconds", "bytes"} {
			if in := strings.Contains(name, "_"+base); in != (unit == base) {
				t.Errorf("%s has the unit %q", name, unit)
			}
		}
	}
	if len(listed) < 50 {
		t.Fatalf("the table has %d metrics; want 50 or more", len(listed))
	}
	return listed
}
