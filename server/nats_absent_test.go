package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// TestStartWaitsForNATS: a server and a node start before their NATS is up. They log what they wait for, are
// not ready, and serve once NATS is up.
func TestStartWaitsForNATS(t *testing.T) {
	for name, cluster := range map[string]string{"alone": "", "node": "prod"} {
		t.Run(name, func(t *testing.T) {
			addrs, said := bustest.FreeAddrs(t, 2), &testkit.Buffer{}
			o := Options{
				Dir: t.TempDir(), HTTPListen: addrs[1], NATSURL: "nats://user:secret@" + addrs[0], ClusterName: cluster,
				Logger: slog.New(slog.NewTextHandler(said, nil)),
			}
			started := make(chan error, 1)
			go func() {
				s, err := Start(t.Context(), o)
				if err == nil {
					err = s.Close(context.Background())
				}
				started <- err
			}()
			testkit.Retry(t, "say what is missing", func(ctx context.Context) error {
				if !strings.Contains(said.String(), "waiting for NATS") || !strings.Contains(said.String(), addrs[0]) {
					return errors.New(said.String())
				}
				return get(ctx, "http://"+addrs[1]+"/healthz")
			})
			if err := get(t.Context(), "http://"+addrs[1]+"/readyz"); err == nil || err.Error() != "503 "+http.StatusText(http.StatusServiceUnavailable) {
				t.Errorf("it is ready without NATS: %v", err)
			}
			if strings.Contains(said.String(), "secret") {
				t.Errorf("the log has the password: %s", said)
			}
			runAt(t, addrs[0])
			if err := <-started; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRefusalIsNoAbsence: a start does not wait for a NATS server that refuses the user.
func TestRefusalIsNoAbsence(t *testing.T) {
	s := bustest.Run(t, `authorization { user: a, password: b }`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := Start(ctx, Options{Dir: t.TempDir(), HTTPListen: "127.0.0.1:0", NATSURL: s.ClientURL(), Logger: discard})
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "Authorization Violation") {
		t.Errorf("started as an unknown user: %v", err)
	}
}

// runAt starts a NATS server with JetStream at an address.
func runAt(t *testing.T, addr string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{
		Host: host, Port: number, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(), MaxPayload: 4 << 20, Username: "user", Password: "secret",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
}
