package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// estate is a server with rights and two tenants, billing and stock. The token of each principal is its name: cluster,
// many (a role in both tenants), reader (a viewer of all), and a viewer, an operator and an admin of each, such as
// billing-viewer.
type estate struct {
	t    *testing.T
	path string // of the file of rights
	*server.Server
}

// tenantsOf are the tenants of an estate, unless a test has others.
const tenantsOf = "  billing: {nats: {storage: 16MiB}}\n  stock:\n"

// writeEstate writes the file of rights of an estate, without some of the principals.
func writeEstate(t *testing.T, path, tenants string, without ...string) {
	t.Helper()
	text := "tenants:\n" + tenants + "principals:\n"
	add := func(name string, grants ...string) {
		for _, one := range without {
			if one == name {
				return
			}
		}
		text += fmt.Sprintf("  - {name: %s, token_sha256: %s, grants: [%s]}\n", name, access.HashToken(name), strings.Join(grants, ", "))
	}
	add("cluster", `{tenant: "*", role: admin}`)
	add("reader", `{tenant: "*", role: viewer}`)
	add("many", "{tenant: billing, role: operator}", "{tenant: stock, role: viewer}")
	add("default-operator", "{tenant: default, role: operator}")
	for _, tenant := range []string{"billing", "stock"} {
		for _, role := range []string{"viewer", "operator", "admin"} {
			add(tenant+"-"+role, fmt.Sprintf("{tenant: %s, role: %s}", tenant, role))
		}
	}
	replaceFile(t, path, text)
}

func startEstate(t *testing.T, edit func(*server.Options)) *estate {
	t.Helper()
	e := &estate{t: t, path: filepath.Join(t.TempDir(), "auth.yaml")}
	writeEstate(t, e.path, tenantsOf)
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Auth = e.path
	if edit != nil {
		edit(&o)
	}
	e.Server = startWith(t, o)
	return e
}

// as connects to NATS with the token of a principal.
func (e *estate) as(principal string, options ...nats.Option) *nats.Conn {
	e.t.Helper()
	return connectAs(e.t, e.Ready().NATS, principal, options...)
}

func connectAs(t *testing.T, url, principal string, options ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, append([]nats.Option{nats.Token(principal)}, options...)...)
	if err != nil {
		t.Fatalf("%s connects: %v", principal, err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// of returns the client of a tenant, with the token of a principal.
func (e *estate) of(tenant, principal string) *client.Client {
	e.t.Helper()
	return clienttest.New(e.t, e.as(principal), client.Options{Tenant: tenant})
}

// listen subscribes, and returns what comes.
func listen(t *testing.T, nc *nats.Conn, subject string) chan *nats.Msg {
	t.Helper()
	got := make(chan *nats.Msg, 1024)
	if _, err := nc.ChanSubscribe(subject, got); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return got
}

// settle returns when all that has been published before it has reached a connection: it goes around through the account.
func settle(t *testing.T, conns ...*nats.Conn) {
	t.Helper()
	for _, nc := range conns {
		if _, err := nc.RTT(); err != nil {
			t.Fatal(err)
		}
	}
}

// putJob puts a yearly job and triggers it once.
func putJob(t *testing.T, c *client.Client, name string, target client.Target) client.Run {
	t.Helper()
	j := client.Job{Name: name, Schedule: "@yearly", Target: target, Payload: []byte(`"` + name + `"`), Retry: client.Retry{MaxAttempts: 1}}
	if _, _, err := c.Put(t.Context(), j); err != nil {
		t.Fatalf("put %s: %v", name, err)
	}
	return trigger(t, c, name)
}

func trigger(t *testing.T, c *client.Client, name string) client.Run {
	t.Helper()
	run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: name})
	if err != nil {
		t.Fatalf("trigger %s: %v", name, err)
	}
	return run
}

// ended waits for the outcome of a run.
func ended(t *testing.T, c *client.Client, run client.Run, status string) client.Run {
	t.Helper()
	var now client.Run
	testkit.Until(t, "the run of "+run.Job+" is "+status, func() bool {
		r, err := c.Run(t.Context(), run.RunID)
		now = r
		return err == nil && r.Status == status
	})
	return now
}

// rawClient speaks the protocol of NATS by hand, as no library would.
type rawClient struct {
	t *testing.T
	net.Conn
	*bufio.Reader
}

// dialRaw connects with what CONNECT has besides the version.
func dialRaw(t *testing.T, url, connect string) *rawClient {
	t.Helper()
	var d net.Dialer
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(url, "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	r := &rawClient{t, conn, bufio.NewReader(conn)}
	r.send(`CONNECT {"verbose":false,"headers":true,"no_responders":true,"protocol":1,%s}`+"\r\n", connect)
	return r
}

func (r *rawClient) send(format string, args ...any) {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.Conn, format, args...); err != nil {
		r.t.Fatal(err)
	}
}

// until reads lines until one that begins with a text, and returns it; or what the server said at the end.
func (r *rawClient) until(prefix string) string {
	r.t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil || strings.HasPrefix(line, prefix) || strings.HasPrefix(line, "-ERR") {
			return line
		}
	}
}

// request sends a request with a header as it is, and returns the body of the reply.
func (r *rawClient) request(subject, header, body string) string {
	r.t.Helper()
	r.send("SUB _INBOX.raw 1\r\nHPUB %s _INBOX.raw %d %d\r\n%s%s\r\n", subject, len(header), len(header)+len(body), header, body)
	line := r.until("HMSG")
	var head, all int
	if _, err := fmt.Sscanf(line[strings.Index(line, " 1 ")+3:], "%d %d", &head, &all); err != nil {
		r.t.Fatalf("%q: %v", line, err)
	}
	reply := make([]byte, all)
	for n := 0; n < all; {
		m, err := r.Reader.Read(reply[n:])
		if err != nil {
			r.t.Fatal(err)
		}
		n += m
	}
	r.send("UNSUB 1\r\n")
	return string(reply[head:])
}

// readFile returns a file's text.
func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replaceFile replaces a file by another one with a text.
func replaceFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
