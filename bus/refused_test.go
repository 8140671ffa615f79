package bus

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// TestRefusedForAWhile: connections that an outside server refuses, as while an operator rotates the password, are restored once the
// server takes them again, however often it has refused them.
func TestRefusedForAWhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	configured := func(password string) *server.Options {
		path := filepath.Join(dir, "nats.conf")
		config := fmt.Sprintf("jetstream { store_dir: %q }\nauthorization { user: carillon, password: %s }\n", dir, password)
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := server.ProcessConfigFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	s := bustest.RunWith(t, configured("one"))
	reload := func(password string) {
		o := configured(password)
		o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", s.Addr().(*net.TCPAddr).Port, true, true
		if err := s.ReloadOptions(o); err != nil {
			t.Fatal(err)
		}
	}
	var log testkit.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	b, err := Open(ctx, Options{ClusterName: "prod", URL: "nats://carillon:one@" + s.Addr().String(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	tries := func() uint64 {
		v, err := s.Varz(nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.TotalConnections
	}
	before := tries()
	reload("two")
	testkit.Until(t, "the connections are refused again and again, and the status warns of it", func() bool {
		warnings := b.Broken()
		return tries() >= before+5*uint64(len(b.conns)+2) && len(warnings) == 1 && strings.Contains(strings.ToLower(warnings[0]), "is broken (nats: authorization violation)")
	})
	if n := strings.Count(strings.ToLower(log.String()), `connection="carillon api" error="nats: authorization violation"`); n != 1 {
		t.Errorf("the refusal is logged %d times; want once", n)
	}
	reload("one")
	testkit.Retry(t, "be connected again", func(ctx context.Context) error {
		for _, nc := range b.conns {
			if err := nc.FlushWithContext(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if warnings := b.Broken(); len(warnings) > 0 {
		t.Errorf("the status still warns of %q", warnings)
	}
}
