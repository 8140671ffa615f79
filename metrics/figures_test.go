package metrics

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// quiet is a logger for what tests provoke.
var quiet = slog.New(slog.DiscardHandler)

// reading is an engine with nothing but a status.
type reading struct{ status scheduler.Status }

func (r reading) Status() scheduler.Status { return r.status }

func (reading) TenantQuotas() []scheduler.TenantQuota { return nil }

// figures are options with something of everything.
func figures(engine Engine) Options {
	var times histogram.Times
	var sizes histogram.Sizes
	for i := range 1000 {
		times.Record(time.Duration(i*i) * time.Microsecond)
		sizes.Record(i * i)
	}
	storage := func() *Storage {
		return &Storage{
			Syncs: times.Read(), Appends: sizes.Read(), Segments: 3, LogBytes: 4096, Checkpoints: times.Read(),
			CheckpointAt: time.Unix(1_700_000_000, 0), Store: Store{Bytes: 5, Stalls: 6, StallTime: 1500 * time.Millisecond}, FreeBytes: 7e9, SizeBytes: 9e9,
		}
	}
	return Options{
		Node: api.Node{Version: "v1.2.3"}, Logger: quiet, Shards: just(Shard{Engine: engine, Storage: storage}),
		Deliveries: func() *Deliveries {
			d := &Deliveries{Connected: true, Reconnects: 2}
			for _, kind := range []string{"nats", "request", "jetstream", "http"} {
				d.Kinds = append(d.Kinds, DeliveryKind{Kind: kind, Ended: map[string]uint64{"ok": 10, "timeout": 1}, Took: times.Read(), Queued: 4})
			}
			return d
		},
		NATS: func() EmbeddedNATS { return EmbeddedNATS{Clients: 3, IsCurrent: true} },
	}
}

// TestFigures reads each kind of figure that a server shows beside those of its engine.
func TestFigures(t *testing.T) {
	st := scheduler.Status{Behind: 2 * time.Second, ReportWaited: 90 * time.Minute, ClockBehind: time.Hour}
	st.JobsBy[scheduler.JobPaused] = 12
	text := scrapeText(New(figures(reading{st})))
	for _, line := range []string{
		`carillon_wal_segments 3`, `carillon_wal_bytes 4096`, `carillon_wal_fsync_seconds_count 1000`, `carillon_wal_append_bytes_bucket{le="256"} 16`,
		`carillon_checkpoint_last_success_timestamp_seconds 1.7e+09`, `carillon_store_bytes 5`, `carillon_store_stalls_total 6`,
		`carillon_store_stall_seconds_total 1.5`, `carillon_data_free_bytes 7e+09`, `carillon_data_size_bytes 9e+09`,
		`carillon_attempts_total{kind="http",outcome="timeout"} 1`, `carillon_attempts_queued{kind="nats"} 4`,
		`carillon_delivery_seconds_count{kind="request"} 1000`, `carillon_target_nats_connected 1`, `carillon_target_nats_reconnects_total 2`,
		`carillon_nats_clients 3`, `carillon_nats_jetstream_current 1`, `carillon_nats_jetstream_leader 0`,
		`carillon_jobs_by_status{shard="0",status="paused"} 12`, `carillon_jobs_by_status{shard="0",status="active"} 0`,
		`carillon_tick_behind_seconds{shard="0"} 2`, `carillon_clock_behind_seconds{shard="0"} 3600`, `carillon_oldest_report_awaited_seconds{shard="0"} 5400`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if !strings.Contains(text, `carillon_build_info{go_version="go`) {
		t.Error("nothing tells what the program was made of")
	}
}

// TestFiguresMissing: a node that has no directory just now shows nothing of one, and one without an engine its
// process alone.
func TestFiguresMissing(t *testing.T) {
	opts := figures(reading{})
	opts.Shards = just(Shard{Engine: reading{}, Storage: func() *Storage { return nil }})
	if text := scrapeText(New(opts)); strings.Contains(text, "carillon_wal_") || !strings.Contains(text, "carillon_jobs{") {
		t.Errorf("without a directory: %s", text)
	}
	text := scrapeText(New(Options{Logger: quiet, NATS: opts.NATS}))
	if strings.Contains(text, "carillon_jobs") || !strings.Contains(text, `version="dev"`) || !strings.Contains(text, "carillon_nats_clients 3\n") {
		t.Errorf("without an engine: %s", text)
	}
}

// TestCounts reads the counts of an engine that have a label or a unit of their own.
func TestCounts(t *testing.T) {
	st := scheduler.Status{
		Shard: 3, Cancelled: 1, Retried: 2, Stale: 3, Reporting: 4, Notices: 5, NoticesLost: 6,
		CatchUp:  scheduler.CatchUp{Jobs: 7, Rate: 1000.5, Left: 90*time.Second + 400*time.Microsecond},
		Lateness: scheduler.Lateness{Count: 10, P99: 1500 * time.Microsecond},
	}
	st.SkippedBy[job.ReasonOverlap], st.SkippedBy[job.ReasonWindow] = 8, 9
	text := scrapeText(New(Options{Logger: quiet, Shards: just(Shard{Engine: reading{st}})}))
	for _, line := range []string{
		`carillon_skipped_total{reason="overlap",shard="3"} 8`, `carillon_skipped_total{reason="missed",shard="3"} 0`,
		`carillon_runs_cancelled_total{shard="3"} 1`, `carillon_attempts_retried_total{shard="3"} 2`, `carillon_reports_stale_total{shard="3"} 3`,
		`carillon_runs_reporting{shard="3"} 4`, `carillon_notices_waiting{shard="3"} 5`, `carillon_notices_lost_total{shard="3"} 6`,
		`carillon_catch_up_jobs{shard="3"} 7`, `carillon_catch_up_rate{shard="3"} 1000.5`, `carillon_catch_up_left_seconds{shard="3"} 90.0004`,
		`carillon_lateness_seconds{quantile="0.99",shard="3"} 0.0015`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

func scrapeText(h http.Handler) string {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	return rec.Body.String()
}

// BenchmarkMetrics scrapes a node with something of everything. No figure depends on how many jobs there are.
func BenchmarkMetrics(b *testing.B) {
	for _, form := range []struct{ name, accept string }{{"text", "text/plain"}, {"native", acceptNative}} {
		b.Run("form="+form.name, func(b *testing.B) {
			h := New(figures(lateEngine()))
			req := httptest.NewRequest("GET", "/metrics", nil)
			req.Header.Set("Accept", form.accept)
			size := 0
			b.ReportAllocs()
			for b.Loop() {
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, req)
				size = rec.Body.Len()
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
