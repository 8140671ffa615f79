// Package rules holds the whole repository to its rules: which package may import which, which keys a line of the log
// has, and who may reply. It is tests only, and each of them works from the root of the repository.
package rules

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/carillon-io/carillon"

// words are the packages of plain types that nearly every other package speaks in.
var words = []string{module + "/instant", module + "/apierr", module + "/schedule", module + "/job"}

// over returns the words and some packages more.
func over(words []string, more ...string) []string { return append(slices.Clone(words), more...) }

// house lists, for each package, what it may import besides the standard library: packages of ours and
// other modules. Arrows point down only, and never sideways between adapters. A package that is not
// listed is not part of the house.
var house = map[string][]string{
	"instant":   {},
	"apierr":    {},
	"schedule":  {module + "/instant", module + "/apierr", "github.com/robfig/cron/v3"},
	"job":       {module + "/instant", module + "/apierr", module + "/schedule"},
	"wheel":     {},
	"fair":      {},
	"placement": {},
	"heap":      {},
	"histogram": {},
	// How late launches were in each minute of a day, in a file.
	"daybook":  {},
	"crontab":  {},
	"terminal": {"golang.org/x/sys"},
	"transfer": {},
	// Files that an operator names, read without waiting; and what a connection to NATS takes from them.
	"smallfile": {},
	// Addresses of servers, as users write them.
	"serverurl": {},
	// What the HTTP clients share, but for the targets of jobs.
	"plainhttp": {},
	"natsfile":  {module + "/certs", module + "/smallfile", "github.com/nats-io/nats.go", "github.com/nats-io/nkeys"},
	// Signatures of HTTP requests, for the sender and for receivers.
	"webhook": {},
	// Secrets in files.
	"secrets": over(words, module+"/smallfile"),
	"client":  {module + "/certs", module + "/plainhttp", module + "/serverurl", module + "/smallfile", module + "/webhook", "github.com/nats-io/nats.go", "github.com/go-json-experiment/json"},
	// Certificates of listeners, read from files.
	"certs":           {module + "/smallfile"},
	"certs/certstest": {module + "/certs"},
	// The one package that publishes replies.
	"inbox":       {"github.com/nats-io/nats.go", "github.com/go-json-experiment/json"},
	"replication": over(words, module+"/inbox", module+"/placement", module+"/transfer", "github.com/nats-io/nats.go", "github.com/go-json-experiment/json"),
	"scheduler":   over(words, module+"/histogram", module+"/scheduler/core", module+"/scheduler/pad"),
	// The decisions: it computes, and does nothing else. TestCoreIsPure says more.
	"scheduler/core": over(words, module+"/fair", module+"/wheel", module+"/scheduler/pad"),
	// Where launches wait until they are due, and leave on time.
	"scheduler/pad": over(words, module+"/fair", module+"/heap", "golang.org/x/sys"),
	"wal":           over(words, module+"/histogram", "github.com/tidwall/wal", "golang.org/x/sys"),
	"snapshot":      over(words, "github.com/cockroachdb/pebble/v2"),
	"backup":        over(words),
	"dispatch":      over(words, module+"/inbox", module+"/webhook", module+"/histogram", module+"/fair", module+"/heap", "github.com/nats-io/nats.go"),
	// The one package that knows OpenTelemetry.
	"tracing": over(words, module+"/plainhttp", module+"/serverurl", "go.opentelemetry.io/otel"),
	// The data directory, which the server and the embedded scheduler share.
	"datadir": over(words, module+"/backup", module+"/histogram", module+"/session", module+"/smallfile", module+"/snapshot", module+"/wal", "golang.org/x/sys"),
	// The data of one shard, divided into that of several.
	"divide": over(words, module+"/datadir", module+"/scheduler"),
	// A scheduler inside a program: no server, and no connection to NATS.
	"embedded": over(words, module+"/api", module+"/client", module+"/datadir", module+"/dispatch", module+"/memory", module+"/scheduler", module+"/shard"),
	// Runs the commands of jobs, as a client.
	"worker": {module + "/job", module + "/client", module + "/inbox", module + "/crontab", module + "/smallfile", "github.com/nats-io/nats.go", "go.yaml.in/yaml/v3"},
	// A store and a log in memory.
	"memory": over(words),
	// The suites that every sender, store, log and clock passes: they are for tests, and import no more than they need.
	"dispatch/dispatchtest": over(words),
	"scheduler/storetest":   over(words, module+"/testkit"),
	"scheduler/logtest":     over(words),
	"scheduler/clocktest":   over(words),
	// An engine in memory, requests that must be refused, and a checker of schemas, for the tests of api, web and metrics.
	"api/apitest": over(words, module+"/memory", module+"/scheduler", module+"/client", "github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2"),
	"api":         over(words, module+"/access", module+"/fair", module+"/histogram", "golang.org/x/time/rate", module+"/scheduler", module+"/client", module+"/inbox", module+"/seal", "github.com/nats-io/nats.go", "github.com/go-json-experiment/json"),
	// The HTTP gateway.
	"web": over(words, module+"/access", module+"/api", module+"/fair", module+"/certs", module+"/client", module+"/oidc", module+"/scheduler", module+"/session", "github.com/go-json-experiment/json"),
	// Who may do what, and the one package that reads the file of rights.
	"access": {module + "/apierr", module + "/job", module + "/smallfile", "github.com/nats-io/nkeys", "go.yaml.in/yaml/v3", "golang.org/x/time/rate"},
	// Issuers of identities; a small one for tests.
	"oidc":          {module + "/access", module + "/job", module + "/plainhttp", module + "/smallfile", "github.com/go-json-experiment/json"},
	"oidc/oidctest": {},
	// Sealed cookies.
	"session": {},
	// Proofs that a node of the cluster wrote a message.
	"seal": {},
	// What tenants use in the shards of a cluster.
	"usage": {module + "/scheduler"},
	// The one package that knows Prometheus.
	"metrics": over(words, module+"/histogram", module+"/scheduler", module+"/client", module+"/api", "github.com/prometheus/client_golang", "github.com/prometheus/client_model"),
	// Pages for people, over the requests of the client; the figures are the engine's.
	// Groups of runs by their cause, for the command line and the pages.
	"rungroup":  {module + "/client"},
	"dashboard": {module + "/client", module + "/daybook", module + "/histogram", module + "/rungroup", module + "/job", module + "/scheduler"},
	// The one package with a NATS server in it.
	"bus": over(words, module+"/certs", module+"/dispatch", module+"/fair", module+"/inbox", module+"/natsfile", module+"/replication", module+"/serverurl", "golang.org/x/time/rate", "github.com/nats-io/nats.go",
		"github.com/nats-io/nats-server/v2", "github.com/nats-io/nkeys"),
	"bus/bustest": {module + "/bench/ports", "github.com/nats-io/nats-server/v2"},
	// One engine with its data, alone or in a cluster.
	"shard": over(words, module+"/api", module+"/datadir", module+"/replication", module+"/scheduler", module+"/wal", "github.com/nats-io/nats.go", "golang.org/x/sys"),
	// The assembly: what a process has once.
	"server": over(words, module+"/access", module+"/certs", module+"/api", module+"/backup", module+"/bus", module+"/client", module+"/dashboard", module+"/datadir", module+"/daybook", module+"/dispatch", module+"/inbox",
		module+"/metrics", module+"/natsfile", module+"/replication", module+"/scheduler", module+"/seal", module+"/secrets", module+"/session", module+"/shard", module+"/tracing", module+"/transfer", module+"/usage", module+"/web", "github.com/nats-io/nats.go", "golang.org/x/sys"),
	"cmd/carillon": over(words, module+"/access", module+"/certs", module+"/backup", module+"/bench", module+"/client", module+"/crontab", module+"/datadir", module+"/divide", module+"/natsfile", module+"/plainhttp", module+"/rungroup", module+"/server", module+"/serverurl", module+"/smallfile", module+"/snapshot",
		module+"/terminal", module+"/wal", module+"/worker", "github.com/nats-io/nats.go", "github.com/alecthomas/kong", "github.com/go-json-experiment/json", "go.yaml.in/yaml/v3", "golang.org/x/sys"),
	// It measures from outside. The kinds of rows, and Pebble, are for the bare scan of a store.
	"bench": {module + "/client", module + "/job", module + "/bench/measure", module + "/bench/plot", module + "/bench/ports", "github.com/cockroachdb/pebble/v2", "github.com/nats-io/nats.go",
		"github.com/alecthomas/kong", "golang.org/x/sys"},
	"bench/plot":    {},
	"bench/measure": {"golang.org/x/sys"},
	// What the tests of several packages share.
	"testkit":               {},
	"client/clienttest":     {module + "/client", "github.com/nats-io/nats.go"},
	"testkit/plants":        {},
	"terminal/terminaltest": {"golang.org/x/sys"},
	// The crash checks share no code with the product: they may not even import the client.
	"bench/crash":        {module + "/bench/history", module + "/bench/kit", module + "/bench/kit", "github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2"},
	"bench/history":      {"github.com/nats-io/nats.go"},
	"bench/kit":          {module + "/bench/ports"},
	"bench/ports":        {},
	"bench/cron":         {module + "/bench/kit"},
	"deploy/release":     {},
	"bench/failover":     {module + "/bench/history", module + "/bench/kit", module + "/bench/failover/lan", "github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2"},
	"bench/failover/lan": {"golang.org/x/sys"},
}

// forbiddenInCore are packages of the standard library that the pure packages must not touch.
var forbiddenInCore = map[string][]string{
	"wheel": {"os", "net", "time", "sync", "math/rand", "math/rand/v2"},
	"fair":  {"os", "net", "time", "sync", "math/rand", "math/rand/v2"},
	"heap":  {"os", "net", "time", "sync", "math/rand", "math/rand/v2"},
	"job":   {"os", "net/http", "math/rand", "math/rand/v2"},

	"schedule":       {"net", "net/http", "math/rand", "math/rand/v2"},
	"instant":        {"os", "net", "math/rand", "math/rand/v2"},
	"apierr":         {"os", "net", "math/rand", "math/rand/v2"},
	"scheduler/core": {"os", "net", "sync", "context", "runtime", "log", "log/slog", "crypto/rand", "math/rand", "math/rand/v2"},
	// It reads texts: no file, no flag, no clock.
	"crontab": {"os", "flag", "net", "time", "math/rand", "math/rand/v2"},
}

// inner lists packages that only the packages above them in their folder may import.
var inner = map[string][]string{
	module + "/scheduler/core": {"scheduler"},
	module + "/scheduler/pad":  {"scheduler", "scheduler/core"},
}

// TestImports reads the imports of every product file.
func TestImports(t *testing.T) {
	t.Chdir("..")
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != "." {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir // a module of its own
			}
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		checkFile(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Fatalf("only %d files were checked; the walk is broken", files)
	}
}

func checkFile(t *testing.T, path string) {
	dir := filepath.ToSlash(filepath.Dir(path))
	allowed, ok := house[dir]
	if !ok {
		t.Errorf("%s: package %s is not in the house; add it to the list with its arrows, or move it", path, dir)
		return
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range f.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if !mayImport(dir, name, allowed) {
			t.Errorf("%s imports %s, which package %s must not", path, name, dir)
		}
	}
}

func mayImport(dir, name string, allowed []string) bool {
	first, _, _ := strings.Cut(name, "/")
	if !strings.Contains(first, ".") {
		for _, banned := range forbiddenInCore[dir] {
			if name == banned {
				return false
			}
		}
		return true
	}
	if above, some := inner[name]; some && !slices.Contains(above, dir) {
		return false
	}
	for _, a := range allowed {
		if name == a || strings.HasPrefix(name, a+"/") {
			return true
		}
	}
	return false
}
