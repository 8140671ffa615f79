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
	reload("two")
	testkit.Until(t, "the API is refused three times", func() bool {
		refusals := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, `connection="carillon api"`) && strings.Contains(strings.ToLower(line), "authorization violation") {
				refusals++
			}
		}
		return refusals >= 3
	})
	reload("one")
	testkit.Retry(t, "be connected again", func(ctx context.Context) error {
		for _, nc := range b.conns {
			if err := nc.FlushWithContext(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
