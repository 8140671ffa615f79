package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/testkit"
)

// outlet is a server in a process of its own, with planted secrets, and all that comes out of it and of commands.
type outlet struct {
	t       *testing.T
	dir     string
	planted map[string]string // by what they are
	mu      sync.Mutex
	seen    map[string]string // by where it came out
	log     testkit.Buffer
	cmd     *exec.Cmd
	exited  chan error
	target  *httptest.Server
	spans   *httptest.Server
	got     chan string // what the target received
	traced  testkit.Buffer
	http    *http.Client
	ready   struct{ NATS, HTTP string }
}

func (o *outlet) add(where, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen[where] += text + "\n"
}

func (o *outlet) text(where string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen[where]
}

func (o *outlet) write(name, text string) string {
	o.t.Helper()
	path := filepath.Join(o.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		o.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
	return path
}

// env is the environment of a process: that of the test without any variable of Carillon, and more.
func (o *outlet) env(more ...string) (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CARILLON_") && !strings.HasPrefix(v, "OTEL_") {
			env = append(env, v)
		}
	}
	return append(append(env, "XDG_CONFIG_HOME="+filepath.Join(o.dir, "config")), more...)
}

// newOutlet plants the secrets, and starts what the server sends to.
func newOutlet(t *testing.T) *outlet {
	t.Helper()
	o := &outlet{t: t, dir: t.TempDir(), seen: map[string]string{}, got: make(chan string, 64), exited: make(chan error, 1), planted: map[string]string{
		"token of ops": "planted-token-of-ops", "token of view": "planted-token-of-view", "unknown token": "planted-token-unknown", "password of NATS": "planted-password-of-nats",
		"Authorization": "planted-authorization", "X-Auth-Token": "planted-auth-token", "query": "planted-query", "secret header": "planted-secret-header",
		"signing key": "cGxhbnRlZC1rZXktb2YtbW9yZS10aGFuLTI0LWJ5dGVz", "client secret": "planted-client-secret", "headers of traces": "planted-trace-header",
		"secret path": "planted-secret-path", "refused header": "planted-refused-header", "cluster password": "planted-cluster-password",
	}}
	o.target = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := fmt.Sprint(r.URL, r.Header)
		o.got <- text
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(o.target.Close)
	o.spans = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(&o.traced, "%s\n", r.Header.Get("X-Collect"))
		o.add("traces", string(body))
	}))
	t.Cleanup(o.spans.Close)
	o.write("secrets/default/plain", o.planted["secret header"])
	o.write("secrets/default/key", "whsec_"+o.planted["signing key"])
	o.write("secrets/default/url", o.target.URL+"/"+o.planted["secret path"])
	client := o.write("oidc-secret", o.planted["client secret"])
	o.write("auth.yaml", fmt.Sprintf(`oidc: {issuer: "https://127.0.0.1:1", client_id: carillon, client_secret_file: %q, redirect_url: "https://127.0.0.1/sign-in/callback"}
principals:
  - {name: ops, token_sha256: %s, grants: [{tenant: "*", role: admin}]}
  - {name: view, token_sha256: %s, grants: [{tenant: default, role: viewer}]}
`, client, access.HashToken(o.planted["token of ops"]), access.HashToken(o.planted["token of view"])))
	return o
}

// serve starts the server, and waits until it is ready.
func (o *outlet) serve() {
	o.t.Helper()
	o.run("auth certs", nil, "", "auth", "certs", filepath.Join(o.dir, "tls"), "--nodes", "a", "--hosts", "127.0.0.1", "--client", "ops")
	for _, name := range []string{"a.key", "ops.key", "ca.key"} {
		key, err := os.ReadFile(filepath.Join(o.dir, "tls", name))
		if lines := strings.Split(string(key), "\n"); err != nil || len(lines) < 3 {
			o.t.Fatalf("%s, %v", key, err)
		} else {
			o.planted[name] = lines[1]
		}
	}
	in := func(name string) string { return filepath.Join(o.dir, name) }
	o.cmd = exec.Command("carillon", "serve", "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--data", in("data"), "--auth", in("auth.yaml"), "--secrets-dir", in("secrets"),
		"--http-tls-cert", in("tls/a.crt"), "--http-tls-key", in("tls/a.key"), "--http-tls-client-ca", in("tls/ca.crt"), "--events", "--allow-private-targets", "--log-level", "debug", "--traces", o.spans.URL)
	o.cmd.Env = o.env("OTEL_EXPORTER_OTLP_HEADERS=X-Collect=" + o.planted["headers of traces"])
	o.cmd.Stderr = &o.log
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = o.cmd.Process.Kill() })
	o.commandLine("serve", o.cmd)
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	if err != nil || json.Unmarshal([]byte(line), &o.ready) != nil {
		o.t.Fatalf("the server says %q, %v\n%s", line, err, o.log.String())
	}
	go func() {
		rest, _ := io.ReadAll(r)
		o.add("serve", line+string(rest))
		o.exited <- o.cmd.Wait()
	}()
	ca, err := os.ReadFile(in("tls/ca.crt"))
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(ca) {
		o.t.Fatal(err)
	}
	o.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	o.t.Cleanup(o.http.CloseIdleConnections)
}

// commandLine adds what other users of the machine see of a process. A process that has just been started has an empty line for
// a moment, and one that has ended has it for good.
func (o *outlet) commandLine(name string, cmd *exec.Cmd) {
	o.t.Helper()
	text := ""
	testkit.Until(o.t, "the process has a command line, or has ended", func() bool {
		text = o.process(cmd, "cmdline")
		return text != "" || strings.Contains(o.process(cmd, "stat"), ") Z ")
	})
	o.add("command lines", text)
	if name == "serve" && !strings.Contains(text, "--secrets-dir") {
		o.t.Errorf("the command line of the server is %q", text)
	}
}

// process returns what the kernel says of a process that was not waited for.
func (o *outlet) process(cmd *exec.Cmd, file string) string {
	o.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, file))
	if err != nil {
		o.t.Fatal(err)
	}
	return string(text)
}

// run runs a command, adds what it prints, and returns it.
func (o *outlet) run(name string, env []string, in string, args ...string) (text string, err error) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "carillon", args...)
	var out bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = o.env(env...), strings.NewReader(in), &out, &out, o.dir
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.commandLine(name, cmd)
	err = cmd.Wait()
	o.add(name, out.String())
	return out.String(), err
}

// stop ends the server, and adds its log.
func (o *outlet) stop() {
	o.t.Helper()
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		o.t.Fatal(err)
	}
	if err := <-o.exited; err != nil {
		o.t.Errorf("the server ends with %v\n%s", err, o.log.String())
	}
	o.add("log", o.log.String())
}

// data returns all bytes of the data directory.
func (o *outlet) data() string {
	o.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(o.dir, "data"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return all.String()
}
