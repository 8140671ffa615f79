package dashboard_test

import (
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// BenchmarkPage makes each page, with as much on it as there may be, over a connection.
func BenchmarkPage(b *testing.B) {
	w := newWorld(b)
	for i := range 200 {
		w.put(client.Job{Name: fmt.Sprintf("jobs/%03d", i), Labels: map[string]string{"team": "billing"}})
	}
	run := w.dead("broken")
	for _, page := range []struct{ name, path string }{
		{"overview", "/"}, {"jobs", "/jobs"}, {"search", "/jobs?prefix=jobs%2F1&status=active&label=team%3Dbilling"}, {"job", "/job?name=broken"},
		{"new", "/new"}, {"edit", "/job/edit?name=broken"}, {"runs", "/runs?job=broken"}, {"dead", "/runs"}, {"run", "/run?id=" + run.RunID},
		{"audit", "/audit"}, {"playground", "/playground?schedule=30+2+*+*+*&timezone=Europe%2FBerlin"},
	} {
		b.Run("page="+page.name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				got := w.get(page.path)
				if size = len(got.body); got.status != 200 {
					b.Fatalf("%s: %d", page.path, got.status)
				}
			}
			b.ReportMetric(float64(size), "B/page")
		})
	}
}
