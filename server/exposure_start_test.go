package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/testkit"
)

// everywhere returns options of a server that listens on all addresses of the machine, on free ports.
func everywhere(t *testing.T) Options {
	o := aloneOptions(filepath.Join(t.TempDir(), "data"))
	o.Listen, o.HTTPListen = "0.0.0.0:0", ":0"
	return o
}

// writeAdminRights writes a file of rights in which the token "cluster" may do everything.
func writeAdminRights(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auth.yaml")
	text := "principals:\n  - {name: ops, token_sha256: " + access.HashToken("cluster") + ", grants: [{tenant: \"*\", role: admin}]}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// statusFor returns the status of the reply to a request that names a host.
func statusFor(t *testing.T, url, host string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	return testkit.Do(t, http.DefaultClient, req).Status
}

// TestRefusedExposure starts servers that would be open, one for each listener. Nothing is left of them: no data
// directory, and no listener.
func TestRefusedExposure(t *testing.T) {
	member := nodeOptions(t, 3)[0]
	member.ClusterPassword = ""
	for name, change := range map[string]func(*Options){
		"http":  func(o *Options) { o.HTTPListen = "0.0.0.0" + port(bustest.FreeAddrs(t, 1)[0]) },
		"nats":  func(o *Options) { o.Listen = "0.0.0.0" + port(bustest.FreeAddrs(t, 1)[0]) },
		"peers": func(o *Options) { o.ClusterListen = "0.0.0.0" + port(o.ClusterListen) },
		"clear": func(o *Options) { o.HTTPListen, o.Auth = "0.0.0.0:0", writeAdminRights(t) },
	} {
		o := member
		change(&o)
		s, err := Start(t.Context(), o)
		if err == nil {
			_ = s.Close(context.Background())
		}
		testkit.Refuses(t, err, "0.0.0.0", " would be ")
		if _, ok := errors.AsType[*OptionsError](err); !ok {
			t.Errorf("%s: %T; want an error of the options, for the exit status", name, err)
		}
		if _, err := os.Stat(o.Dir); !os.IsNotExist(err) {
			t.Errorf("%s: the data directory is there: %v", name, err)
		}
		for _, addr := range []string{o.HTTPListen, o.Listen, o.ClusterListen} {
			if _, err := http.Get("http://127.0.0.1" + port(addr) + "/"); port(addr) != ":0" && err == nil {
				t.Errorf("%s: %s answers", name, addr)
			}
		}
	}
}

// port returns the port of an address, with its colon.
func port(addr string) string { return addr[strings.LastIndexByte(addr, ':'):] }

// TestInsecureServer: with --insecure the server starts, and says what it is in its log, in the status, in its metrics
// and on each page, also on those of errors. Names of other sites are refused all the same.
func TestInsecureServer(t *testing.T) {
	o, log := everywhere(t), new(testkit.Buffer)
	o.Insecure, o.Logger = true, slog.New(slog.NewTextHandler(log, nil))
	s := startOptions(t, o)
	base := s.Ready().HTTP
	if want := "level=WARN msg=\"this server runs with --insecure: :0 is open to others"; !strings.Contains(log.String(), want) {
		t.Errorf("the log has no %s: %.600s", want, log)
	}
	if page := testkit.Get(t, base+"/metrics"); !strings.Contains(page.Body, "\ncarillon_insecure 1\n") {
		t.Errorf("metrics: %d", page.Status)
	}
	node := s.aboutNode(s.aboutCluster(), nil)
	if warnings := node.Status(s.first().shard.Status(), access.Who{}).Warnings; !slices.Contains(warnings, s.opts.insecurity()) {
		t.Errorf("the status warns %q", warnings)
	}
	for _, path := range []string{"/", "/jobs", "/runs", "/audit", "/playground", "/new", "/job?name=unknown", "/nowhere"} {
		page := getPage(t, base+path)
		if !strings.Contains(page, `<aside class="alert" id="insecure" aria-label="Security"><strong>this server runs with --insecure: `) {
			t.Errorf("%s has no banner: %.300s", path, page)
		}
	}
	for host, want := range map[string]int{"": 200, "127.0.0.1:7272": 200, "localhost:7272": 421, "evil.example.com": 421, "jobs.example.com": 421} {
		if got := statusFor(t, base+"/healthz", host); got != want {
			t.Errorf("as %q: %d, want %d", host, got, want)
		}
	}
}

// getPage returns a page as a browser gets it.
func getPage(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	return testkit.Do(t, http.DefaultClient, req).Body
}

func startOptions(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// TestProtectedServers start beyond loopback with rights and TLS, or with rights behind a proxy, and are not insecure.
func TestProtectedServers(t *testing.T) {
	files := certstest.Files(t, certstest.NewAuthority(t), certstest.Node("a"))
	for name, change := range map[string]func(*Options){
		"TLS":       func(o *Options) { o.HTTPTLS, o.ListenTLS = files, files },
		"plaintext": func(o *Options) { o.Plaintext, o.HTTPHosts = true, []string{"Jobs.Example.com"} },
		"loopback":  func(o *Options) { o.Listen, o.HTTPListen = "localhost:0", "localhost:0" },
	} {
		o := everywhere(t)
		o.Auth = writeAdminRights(t)
		change(&o)
		s := startOptions(t, o)
		node := s.aboutNode(s.aboutCluster(), nil)
		if got := node.Warnings(); len(got) > 0 {
			t.Errorf("%s: it warns %q", name, got)
		}
		switch name {
		case "plaintext":
			base := s.Ready().HTTP
			if got := statusFor(t, base+"/healthz", "jobs.example.com"); got != 200 {
				t.Errorf("as the name that it was given: %d", got)
			}
			if strings.Contains(getPage(t, base+"/"), `id="insecure"`) {
				t.Error("a page has the banner")
			}
		case "loopback":
			if addr := s.listener.Addr().String(); !strings.HasPrefix(addr, "127.0.0.1:") {
				t.Errorf("localhost is %s", addr)
			}
		}
	}
}
