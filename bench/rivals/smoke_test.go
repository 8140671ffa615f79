package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

func parseRivals(t *testing.T, flags ...string) (*rivalsCmd, error) {
	t.Helper()
	var c cli
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(append([]string{"rivals"}, flags...))
	return &c.Rivals, err
}

// One setting of each rival registers and fires a few jobs, end to end.
func TestSmoke(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	const herd = 50
	c := &rivalsCmd{Herd: herd, Bulk: 200, Clients: 3, PutFor: 100 * time.Millisecond, Binary: filepath.Join("..", "..", "bin", "carillon")}
	if path, err := filepath.Abs(c.Binary); err == nil {
		c.Binary = path
	}
	missing := map[string]func() error{
		bareRival:     func() error { return nil },
		carillonRival: func() error { _, err := os.Stat(c.Binary); return err },
		"nats":        func() error { return nil },
		"river":       func() error { _, err := postgresPrograms(); return err },
		"asynq":       func() error { _, err := exec.LookPath("redis-server"); return err },
	}
	chosen := []string{bareName, "carillon-reply", "nats-sync", "river-tuned", "asynq-everysec"}
	for _, m := range c.modes() {
		if !slices.Contains(chosen, m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if err := missing[m.rival](); err != nil {
				t.Skip(err)
			}
			// Not one of the test's own: PostgreSQL's user must be able to pass through those above.
			dir, err := os.MkdirTemp("", "carillon-rivals-")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			var out, progress strings.Builder
			r := &report{ctx: t.Context(), dir: dir, out: &out, progress: &progress}
			for _, workload := range []string{"registration", "herd"} {
				one := c.measure(r, workload, m)
				if len(one.Broken) > 0 || len(one.Notes) > 0 && m.rival != "asynq" {
					t.Errorf("%s: broken %q, notes %q", workload, one.Broken, one.Notes)
				}
				checkSmoke(t, workload, m, &one, herd)
			}
		})
	}
}

func checkSmoke(t *testing.T, workload string, m mode, one *result, herd int) {
	t.Helper()
	want := map[string]float64{"received": float64(herd), "missing": 0, "doubled": 0, "strange": 0}
	if workload == "registration" {
		want = nil
		if rate, ok := one.value("many_per_second"); !ok || rate <= 0 {
			t.Errorf("many registered %v a second, %v", rate, ok)
		}
		if rate, ok := one.value("shared_per_second"); ok == (m.rival == "river" || m.rival == "asynq") || ok && rate <= 0 {
			t.Errorf("many over one connection registered %v a second, %v", rate, ok)
		}
	}
	for key, value := range want {
		if got, ok := one.value(key); !ok || got != value {
			t.Errorf("%s: %s is %v, %v; want %v", workload, key, got, ok, value)
		}
	}
}
