package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// TestConnectionsGoToTheNextServer: with a list of servers, the start skips one that is down, and when the one
// in use dies, the connections soon move to another.
func TestConnectionsGoToTheNextServer(t *testing.T) {
	const config = `jetstream { store_dir: "%s" }`
	one, two := bustest.Run(t, config), bustest.Run(t, config)
	unused := bustest.FreeAddrs(t, 1)[0]
	b, err := openOutside(t, fmt.Sprintf("nats://%s, nats://%s,nats://%s", unused, one.Addr(), two.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	extra, err := b.Connect("carillon log")
	if err != nil {
		t.Fatal(err)
	}
	one.Shutdown()
	one.WaitForShutdown()
	testkit.Retry(t, "be with the other server", func(ctx context.Context) error {
		for _, nc := range b.conns {
			if err := nc.FlushWithContext(ctx); err != nil {
				return err
			}
			if addr := nc.ConnectedAddr(); addr != two.Addr().String() {
				return errors.New("connected to " + addr)
			}
		}
		return nil
	})
	b.Close()
	if !extra.IsClosed() || !b.api.IsClosed() {
		t.Error("connections are open after close")
	}
}

// TestSilenceIsNoticed: in a cluster, a connection that a vanished server leaves open is given up within
// seconds; a node alone keeps the slower default.
func TestSilenceIsNoticed(t *testing.T) {
	s := bustest.Run(t, `jetstream { store_dir: "%s" }`)
	url := "nats://" + s.Addr().String()
	b, err := openOutside(t, url)
	if err != nil {
		t.Fatal(err)
	}
	if o := b.api.Opts; o.PingInterval*time.Duration(o.MaxPingsOut+1) != 6*time.Second || o.MaxReconnect != -1 {
		t.Errorf("in a cluster it pings each %s, %d times, and reconnects %d times", o.PingInterval, o.MaxPingsOut, o.MaxReconnect)
	}
	alone := &Bus{opts: Options{URL: url, Logger: slog.New(slog.DiscardHandler)}, url: url}
	t.Cleanup(alone.Close)
	nc, err := alone.Connect("carillon api")
	if err != nil {
		t.Fatal(err)
	}
	if nc.Opts.PingInterval < time.Minute {
		t.Errorf("alone it pings each %s", nc.Opts.PingInterval)
	}
}

// TestEmbeddedServerIsSetUpByTheOptions: a member syncs, has the node's name, and each peer counts once; a node
// alone is set up as it always was.
func TestEmbeddedServerIsSetUpByTheOptions(t *testing.T) {
	alone, err := Options{StoreDir: "d", Listen: "127.0.0.1:4222"}.serverOptions()
	if err != nil {
		t.Fatal(err)
	}
	if alone.ServerName != "carillon" || alone.SyncAlways || alone.SyncInterval != time.Second || alone.Cluster.Port != 0 || alone.MaxPayload != 4<<20 {
		t.Errorf("alone: %+v", alone)
	}
	o := Options{
		Listen: "127.0.0.1:4222", ClusterName: "prod", Node: "a", ClusterListen: "0.0.0.0:6222", ClusterPassword: "a:b@c/d",
		Routes: []string{"a:6222", "nats-route://b:6222", "b:6222", "nats://c:6222/", "[::1]:6222"},
	}
	member, err := o.serverOptions()
	if err != nil {
		t.Fatal(err)
	}
	if member.ServerName != "a" || !member.SyncAlways || member.SyncInterval < time.Minute || member.Cluster.Name != "prod" || member.Cluster.Host != "0.0.0.0" || member.Cluster.Port != 6222 {
		t.Errorf("a member: %+v", member)
	}
	if c := member.Cluster; c.Username+c.Password != "" || c.TLSConfig == nil || c.TLSConfig.ClientAuth != tls.RequireAndVerifyClientCert {
		t.Errorf("a member with a password alone: %+v; want TLS that proves both sides, and no password", c)
	}
	var hosts []string
	for _, u := range member.Routes {
		hosts = append(hosts, u.Host)
		if u.Scheme != "nats-route" || u.User != nil {
			t.Errorf("the route %s goes there as %v; want no user, because the password is not sent", u.Redacted(), u.User)
		}
	}
	if got := strings.Join(hosts, " "); got != "a:6222 b:6222 c:6222 [::1]:6222" {
		t.Errorf("routes to %s", got)
	}
	o.ClusterTLS = &tls.Config{} // its listener has proved itself by a certificate before it is sent the password
	if member, err = o.serverOptions(); err != nil {
		t.Fatal(err)
	}
	if secret, _ := member.Routes[0].User.Password(); secret != o.ClusterPassword || member.Cluster.Password != secret || member.Cluster.TLSConfig != o.ClusterTLS {
		t.Errorf("a member with certificates besides: %+v, routes as %v", member.Cluster, member.Routes[0].User)
	}
}
