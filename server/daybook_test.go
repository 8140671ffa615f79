package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/testkit"
)

// TestDaybookSurvivesARestart: the overview shows after a restart what was launched before it. A file that cannot be used
// costs the chart, and nothing else.
func TestDaybookSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _, c := startAlone(t, dir)
	mustPut(t, c, natsJob("x", "@every 50ms"))
	testkit.Until(t, "runs are launched", func() bool {
		status, err := c.Status(t.Context())
		return err == nil && status.Lateness.Count >= 3
	})
	day := func(s *Server) string {
		_, page, _ := strings.Cut(testkit.Get(t, s.Ready().HTTP+"/").Body, `id="day"`)
		page, _, _ = strings.Cut(page, "</section>")
		return page
	}
	if _, err := c.Delete(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, _, _ = startAlone(t, dir)
	if page := day(s); !strings.Contains(page, "Runs fired: ") || !strings.Contains(page, `class="p99"`) {
		t.Errorf("after a restart the day is %s", page)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(datadir.ShardDir(dir, 0), datadir.DaybookName)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	s, _, _ = startAlone(t, dir)
	if page := day(s); !strings.Contains(page, `class="empty"`) {
		t.Errorf("without its file the day is %s", page)
	}
}
