package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// environment has the variables of a container.
type environment map[string]string

// imageEnvironment returns the variables that the image sets.
func imageEnvironment(t *testing.T) environment {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	env := environment{}
	for _, m := range regexp.MustCompile(`(?m)^(?:ENV|   ) (CARILLON_[A-Z_]+)=(\S+)`).FindAllStringSubmatch(string(text), -1) {
		env[m[1]] = m[2]
	}
	if len(env) != 4 {
		t.Fatalf("the image sets %v", env)
	}
	return env
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", path))
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// podEnvironments returns the variables of the pods of the StatefulSet, and their peers' names in the routes.
func podEnvironments(t *testing.T) (nodes []environment, names []string) {
	var config struct {
		Data environment `yaml:"data"`
	}
	readYAML(t, "kubernetes/config.yaml", &config)
	for i := range 3 {
		env := imageEnvironment(t)
		maps.Copy(env, config.Data)
		env["CARILLON_NODE"] = fmt.Sprintf("carillon-%d", i) // by the field reference
		nodes, names = append(nodes, env), append(names, fmt.Sprintf("carillon-%d.carillon-peers", i))
	}
	return nodes, names
}

// composed returns the variables of the services of a file of compose.
func composed(t *testing.T, file string, services ...string) (nodes []environment) {
	t.Helper()
	var read struct {
		Services map[string]struct {
			Environment environment `yaml:"environment"`
		} `yaml:"services"`
	}
	readYAML(t, "compose/"+file, &read)
	for _, name := range services {
		env := imageEnvironment(t)
		maps.Copy(env, read.Services[name].Environment)
		nodes = append(nodes, env)
	}
	return nodes
}

// serviceEnvironments returns the variables of the services of the composed cluster, and their names in the routes.
func serviceEnvironments(t *testing.T) (nodes []environment, names []string) {
	names = []string{"a", "b", "c"}
	return composed(t, "compose.cluster.yaml", names...), names
}

// singleEnvironment returns the variables of the composed node alone.
func singleEnvironment(t *testing.T) (nodes []environment, names []string) {
	return composed(t, "compose.yaml", "carillon"), nil
}

// secretsOf makes the files of the secrets, by their directory and name in a container and with the modes of a mounted
// one: a file of rights in which the token "ops" may do everything, a certificate for the names of the service, and those
// of the peers.
func secretsOf(t *testing.T) (files map[string]string, trust *tls.Config) {
	t.Helper()
	a := certstest.NewAuthority(t)
	tls := certstest.Files(t, a, certs.Wanted{Name: "carillon", Hosts: append([]string{"carillon.carillon.svc"}, certstest.Hosts...), Server: true})
	rights := filepath.Join(t.TempDir(), "auth.yaml")
	text := `principals: [{name: ops, token_sha256: ` + access.HashToken("ops") + `, grants: [{tenant: "*", role: admin}]}]`
	if err := os.WriteFile(rights, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{rights, tls.Key} {
		if err := os.Chmod(path, 0o440); err != nil {
			t.Fatal(err)
		}
	}
	files = map[string]string{"auth/auth.yaml": rights, "secrets/auth": rights, "tls/tls.crt": tls.Cert, "tls/tls.key": tls.Key, "tls/ca.crt": tls.CA}
	of := documentedCerts(t, "deploy/compose/compose.cluster.yaml", "deploy/compose/tls")
	files["secrets/ca.crt"] = filepath.Join(of, "peers-ca.crt")
	for _, name := range []string{"a", "b", "c"} {
		for _, kind := range []string{".crt", ".key"} {
			files["secrets/"+name+kind] = filepath.Join(of, name+"-peer"+kind)
		}
	}
	of = documentedCerts(t, "docs/packages.md", "tls")
	for name, made := range map[string]string{"ca.crt": "peers-ca.crt", "tls.crt": "carillon-peer.crt", "tls.key": "carillon-peer.key"} {
		files["peers/"+name] = filepath.Join(of, made)
	}
	return files, certstest.Trust(t, a, nil)
}

// documentedCerts runs the command by which a file of the repository says that certificates are made in a directory. It
// returns the directory in which they are.
func documentedCerts(t *testing.T, file, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)carillon (auth certs ` + regexp.QuoteMeta(dir) + ` [^#\n]*?) *(#.*)?$`).FindSubmatch(text)
	if said == nil {
		t.Fatalf("%s does not say how the certificates of %s are made", file, dir)
	}
	made := filepath.Join(t.TempDir(), "certs")
	words := strings.Fields(strings.Replace(string(said[1]), dir, made, 1))
	var errs strings.Builder
	if status := run(words, strings.NewReader(""), io.Discard, &errs); status != exitDone {
		t.Fatalf("carillon %q ends with %d: %s", words, status, errs.String())
	}
	return made
}

// onThisMachine replaces what only containers have: names, ports, the volume and the secrets. The addresses stay those of
// every interface.
func onThisMachine(t *testing.T, nodes []environment, names []string, files map[string]string) {
	t.Helper()
	addrs := bustest.FreeAddrs(t, len(nodes))
	var routes []string
	for i, name := range names {
		routes = append(routes, name+":6222", addrs[i])
	}
	for i, env := range nodes {
		_, port, _ := strings.Cut(addrs[i], ":")
		env["CARILLON_LISTEN"] = strings.Replace(env["CARILLON_LISTEN"], ":4222", ":0", 1)
		env["CARILLON_HTTP_LISTEN"] = strings.Replace(env["CARILLON_HTTP_LISTEN"], ":7272", ":0", 1)
		env["CARILLON_DATA"] = filepath.Join(t.TempDir(), "data")
		for name, value := range env {
			if strings.HasPrefix(value, "/etc/carillon/") || strings.HasPrefix(value, "/run/secrets/") {
				path, ok := files[filepath.Join(filepath.Base(filepath.Dir(value)), filepath.Base(value))]
				if !ok {
					t.Fatalf("%s is %s, which is in no secret", name, value)
				}
				env[name] = path
			}
		}
		if len(names) == 0 {
			continue // it is alone
		}
		env["CARILLON_CLUSTER_LISTEN"] = strings.Replace(env["CARILLON_CLUSTER_LISTEN"], ":6222", ":"+port, 1)
		env["CARILLON_ROUTES"] = strings.NewReplacer(routes...).Replace(env["CARILLON_ROUTES"])
		env["CARILLON_CLUSTER_PASSWORD"] = "tower-of-the-town-hall"
	}
}

// options returns the options of `carillon serve` in an environment.
func (env environment) options(t *testing.T) server.Options {
	t.Helper()
	for name, value := range env {
		if err := os.Setenv(name, value); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Unsetenv(name) }()
	}
	grammar := &cli{}
	parser, err := newParser(grammar, &console{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	if err == nil {
		_, err = parser.Parse([]string{"serve"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return grammar.Serve.options(slog.New(slog.DiscardHandler))
}

// TestClustersOfTheManifests starts the three nodes of the Kubernetes manifests, those of the composed cluster, and the
// composed node alone, with their variables on this machine. Each is ready, and answers to who may and to its own names.
func TestClustersOfTheManifests(t *testing.T) {
	files, trust := secretsOf(t)
	clusters, hosts := map[string][]server.Options{}, map[string]string{}
	for what, environments := range map[string]func(*testing.T) ([]environment, []string){
		"kubernetes": podEnvironments, "compose": serviceEnvironments, "single": singleEnvironment,
	} {
		nodes, names := environments(t)
		onThisMachine(t, nodes, names, files)
		for _, env := range nodes {
			clusters[what] = append(clusters[what], env.options(t))
		}
		hosts[what], _, _ = strings.Cut(nodes[0]["CARILLON_HTTP_HOSTS"], ",")
	}
	t.Parallel() // not before, because the variables are those of the process
	for what, nodes := range clusters {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			web := &http.Client{Transport: &http.Transport{TLSClientConfig: trust.Clone()}, Timeout: testkit.Patience}
			t.Cleanup(web.CloseIdleConnections)
			for i, s := range startNodes(t, nodes) {
				checkDoors(t, web, s.Ready().HTTP, hosts[what])
				checkHealth(t, &nodes[i], s.Ready().HTTP)
				if what != "single" {
					checkPeers(t, &nodes[i])
				}
			}
		})
	}
}

// startNodes starts nodes side by side, as none is ready without a majority. They end with the test.
func startNodes(t *testing.T, nodes []server.Options) []*server.Server {
	t.Helper()
	servers, errs := make([]*server.Server, len(nodes)), make([]error, len(nodes))
	var all sync.WaitGroup
	for i, o := range nodes {
		all.Go(func() { servers[i], errs[i] = server.Start(t.Context(), o) })
	}
	all.Wait()
	for _, s := range servers {
		if s != nil {
			t.Cleanup(func() { _ = s.Close(context.Background()) })
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return servers
}

// checkDoors asks a node with and without a token, and by its name and another one. Probes need neither.
func checkDoors(t *testing.T, web *http.Client, base, name string) {
	t.Helper()
	for _, c := range []struct {
		path, host, token string
		want              int
	}{
		{"/healthz", "", "", http.StatusOK},
		{"/metrics", "", "", http.StatusUnauthorized},
		{"/metrics", "", "ops", http.StatusOK},
		{"/metrics", name, "ops", http.StatusOK},
		{"/metrics", "evil.example.com", "ops", http.StatusMisdirectedRequest},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		if c.token != "" {
			req.Header.Set("Authorization", "Bearer "+c.token)
		}
		reply := testkit.Do(t, web, req)
		if reply.Status != c.want || c.token != "" && c.want == http.StatusOK && !strings.Contains(reply.Body, "\ncarillon_insecure 0\n") {
			t.Errorf("%s of %s as %q with the token %q: %d, want %d", c.path, base, c.host, c.token, reply.Status, c.want)
		}
	}
}

// checkHealth runs the health check of the image as its container would, without a token.
func checkHealth(t *testing.T, o *server.Options, base string) {
	t.Helper()
	_, address, _ := strings.Cut(base, "://")
	_, port, _ := net.SplitHostPort(address)
	var out strings.Builder
	check := readyCmd{HTTPListen: "0.0.0.0:" + port, HTTPTLSCert: o.HTTPTLS.Cert, Timeout: span(testkit.Patience)}
	testkit.Retry(t, "the node is healthy", func(ctx context.Context) error {
		return check.Run(ctx, &console{in: strings.NewReader(""), out: &out, err: io.Discard})
	})
}

// checkPeers connects to the port of the peers, which admits who shows the certificate of a peer, and neither who shows
// none nor who speaks no TLS.
func checkPeers(t *testing.T, o *server.Options) {
	t.Helper()
	authority, err := os.ReadFile(o.ClusterTLS.CA)
	if err != nil {
		t.Fatalf("the peers of %s have no TLS: %v", o.Node, err)
	}
	pair, err := tls.LoadX509KeyPair(o.ClusterTLS.Cert, o.ClusterTLS.Key)
	if err != nil {
		t.Fatalf("the peers of %s have no TLS: %v", o.Node, err)
	}
	stranger := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	stranger.RootCAs.AppendCertsFromPEM(authority)
	peer := stranger.Clone()
	peer.Certificates = []tls.Certificate{pair}
	_, port, _ := net.SplitHostPort(o.ClusterListen)
	for _, c := range []struct {
		as     string
		config *tls.Config
		admits bool
	}{{"a peer", peer, true}, {"a stranger", stranger, false}, {"a program without TLS", nil, false}} {
		if got := greetingOf(t, net.JoinHostPort("127.0.0.1", port), c.config); strings.HasPrefix(got, "INFO ") != c.admits {
			t.Errorf("%s says %q to %s", o.Node, got, c.as)
		}
	}
}

// greetingOf returns the first line that a server says, with TLS unless config is nil; "" if it says nothing.
func greetingOf(t *testing.T, address string, config *tls.Config) (line string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(testkit.Patience)); err != nil {
		t.Fatal(err)
	}
	if config != nil {
		config.ServerName = "127.0.0.1"
		conn = tls.Client(conn, config)
	}
	line, _ = bufio.NewReader(conn).ReadString('\n') // an error is an end without a line
	return line
}

// TestImageRunBare: the variables of the image alone are refused, by the words that say what to give; with --insecure, as
// in the documentation, they are not.
func TestImageRunBare(t *testing.T) {
	env := imageEnvironment(t)
	env["CARILLON_DATA"] = filepath.Join(t.TempDir(), "data")
	_, err := server.Start(t.Context(), env.options(t))
	testkit.Refuses(t, err, "0.0.0.0:7272 would be open to others: give --auth FILE and --http-tls-cert/--http-tls-key, or --insecure", "0.0.0.0:4222 would be open")
	if _, err := os.Stat(env["CARILLON_DATA"]); !os.IsNotExist(err) {
		t.Errorf("the data directory is there: %v", err)
	}
	env["CARILLON_INSECURE"], env["CARILLON_LISTEN"], env["CARILLON_HTTP_LISTEN"] = "true", "0.0.0.0:0", "0.0.0.0:0"
	startNodes(t, []server.Options{env.options(t)})
}
