package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/server"
)

// startServer starts a server for a test, with an embedded NATS server or with the one at the URL. It returns the address
// of its NATS server.
func startServer(t *testing.T, natsURL string) string {
	t.Helper()
	s, err := server.Start(t.Context(), server.Options{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", NATSURL: natsURL, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s.Ready().NATS
}

// startNATS starts a NATS server that accepts only the given users.
func startNATS(t *testing.T, opts natsserver.Options) string {
	t.Helper()
	return bustest.RunWith(t, &opts).ClientURL()
}

// command runs the command in this process.
func command(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = run(args, strings.NewReader(""), &o, &e)
	return status, o.String(), e.String()
}

// useContexts creates contexts of the nats command, by name, and clears every variable that selects a server.
func useContexts(t *testing.T, texts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"CARILLON_SERVER", "CARILLON_CONTEXT", "CARILLON_TOKEN", "CARILLON_TOKEN_FILE", "CARILLON_TENANT"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_CONFIG_HOME", dir)
	dir = filepath.Join(dir, "nats", "context")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A key pair for this test only.
const (
	testKey  = "UABSTAEB7VD45DKIUSW6GS555I2MLMZSTVJDOWXE66PL45RCQU36KAKJ"
	testSeed = "SUAKLZP5G3LLRGLWIGJUKDSU6JS37VBIFQX55SMCJECDDEDP3IQZIIWJT4"
)

// TestContexts connects to a server behind a NATS server that wants credentials: a context works, no context does not.
func TestContexts(t *testing.T) {
	seedFile := filepath.Join(t.TempDir(), "user.nk")
	if err := os.WriteFile(seedFile, []byte(testSeed), 0o600); err != nil {
		t.Fatal(err)
	}
	url := startNATS(t, natsserver.Options{
		Users: []*natsserver.User{{Username: "ann", Password: "s3cret"}}, Nkeys: []*natsserver.NkeyUser{{Nkey: testKey}},
	})
	startServer(t, strings.Replace(url, "://", "://ann:s3cret@", 1))
	useContexts(t, map[string]string{
		"ann":     `{"description": "for tests", "url": "` + url + `", "user": "ann", "password": "s3cret", "inbox_prefix": "_INBOX_ann", "socks_proxy": "", "tls_first": false}`,
		"key":     `{"url": "` + url + `", "nkey": "` + seedFile + `", "color_scheme": "green"}`,
		"wrong":   `{"url": "` + url + `", "user": "ann", "password": "guess"}`,
		"in-url":  `{"url": "` + strings.Replace(url, "://", "://ann:guess@", 1) + `"}`,
		"proxied": `{"url": "` + url + `", "socks_proxy": "socks5://proxy:1080", "nsc": "nsc://a/b/c"}`,
		"half":    `{"url": "` + url + `", "cert": "cert.pem"}`,
		"typo":    `{"url": `,
		"slash":   `{"url": "nats://ann:ab/guess@127.0.0.1:1"}`,
	})
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--context", "ann"}, exitDone, "leader"},
		{[]string{"--context=key"}, exitDone, "leader"},
		{[]string{"--context", "wrong"}, exitFailed, "refuses these credentials"},
		{[]string{"--context", "in-url"}, exitFailed, "ann:xxxxx@"},
		{[]string{"--server", url}, exitFailed, "refuses these credentials"},
		{[]string{"--server", url, "--context", "ann"}, exitUsage, "exclude each other"},
		{[]string{"--creds", "other.creds", "--context", "ann"}, exitUsage, "--creds other.creds exclude each other"},
		{[]string{"--context", "nobody"}, exitUsage, "there is no context nobody: "},
		{[]string{"--context", "../ann"}, exitUsage, "is no name of a context"},
		{[]string{"--context", "proxied"}, exitUsage, "nsc, socks_proxy is not supported"},
		{[]string{"--context", "half"}, exitUsage, "cert and key go together"},
		{[]string{"--context", "typo"}, exitUsage, "typo.json"},
		{[]string{"--context", "slash"}, exitUsage, "url: address 1 is no URL"},
	} {
		status, out, errs := command(append([]string{"status", "--timeout", "5s"}, c.args...)...)
		if status != c.status || !strings.Contains(out+errs, c.want) {
			t.Errorf("%v: status %d, want %d and %q; got\n%s%s", c.args, status, c.status, c.want, out, errs)
		}
		if strings.Contains(out+errs, "guess") || strings.Contains(out+errs, "s3cret") {
			t.Errorf("%v shows a password: %s", c.args, out+errs)
		}
	}
	t.Setenv("CARILLON_CONTEXT", "ann")
	if status, out, errs := command("job", "list"); status != exitDone {
		t.Errorf("CARILLON_CONTEXT: status %d, %s%s", status, out, errs)
	}
	if got := contextNames(); len(got) != 8 || got[0].value != "ann" {
		t.Errorf("completion offers %v", got)
	}
}

// TestReadyLineHasNoPassword: the ready line of serve can end up in a log.
func TestReadyLineHasNoPassword(t *testing.T) {
	var out bytes.Buffer
	con := &console{out: &out}
	if err := con.printReady(server.Ready{NATS: "nats://ann:s3cret@n1:4222,nats://n2:4222", Role: "leader"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"nats":"nats://ann:xxxxx@n1:4222,nats://n2:4222"`) {
		t.Error(out.String())
	}
}
