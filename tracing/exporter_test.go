package tracing

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// TestCollectorHangs: a collector that takes a post and never answers delays nobody. The queue is bounded,
// what is beyond it is counted, the log says so once, and Close ends when its context does.
func TestCollectorHangs(t *testing.T) {
	hanging, release := make(chan struct{}, 64), make(chan struct{})
	defer close(release)
	c := newCollector(t, func(_ http.ResponseWriter, r *http.Request) {
		hanging <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	log := new(testkit.Buffer)
	tracer := openTracer(t, Options{Endpoint: c.URL, Ratio: 1, Logger: slog.New(slog.NewTextHandler(log, nil))})
	const beyond = 100
	begun := time.Now()
	for n := range int64(queueMax + beyond) {
		follow(tracer, delivery(n, 1), "")
		if n == batchMax {
			<-hanging // the post is under way, and stays so
		}
	}
	if took := time.Since(begun); took > postTimeMax {
		t.Errorf("the attempts took %s: they have waited", took)
	}
	if lost := tracer.Lost(); lost != beyond {
		t.Errorf("%d spans are lost, want %d", lost, beyond)
	}
	if text := log.String(); strings.Count(text, "spans were lost") != 1 || !strings.Contains(text, errQueueFull.Error()) {
		t.Errorf("the log says %q", text)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	begun = time.Now()
	tracer.Close(done)
	if took := time.Since(begun); took > closeTimeMax {
		t.Errorf("Close took %s", took)
	}
	if lost := tracer.Lost(); lost != queueMax+beyond {
		t.Errorf("%d spans are lost in the end, want all %d", lost, queueMax+beyond)
	}
	if text := log.String(); strings.Count(text, "spans were lost") != 2 {
		t.Errorf("the log says %q", text)
	}
}

// TestCollectorAnswers: what passes is asked again, what does not is lost, and so is what a collector takes
// out of a batch.
func TestCollectorAnswers(t *testing.T) {
	for name, x := range map[string]struct {
		answers []int // the last one stays
		header  string
		body    string
		posts   int
		lost    uint64
	}{
		"busy for a while": {[]int{503, 200}, "", "", 2, 0},
		"asks for a pause": {[]int{429, 200}, "1", "", 2, 0},
		"refuses":          {[]int{400}, "", "", 1, 1},
		"redirects":        {[]int{307}, "", "", 1, 1},
		"takes a part":     {[]int{200}, "", `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}`, 1, 1},
		"counts too far":   {[]int{200}, "", `{"partialSuccess":{"rejectedSpans":99}}`, 1, 1},
		"speaks otherwise": {[]int{202}, "", `thanks`, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			c := newCollector(t, func(rw http.ResponseWriter, _ *http.Request) {
				if x.header != "" {
					rw.Header().Set("Retry-After", x.header)
				}
				rw.Header().Set("Location", "http://127.0.0.1:1/")
				rw.WriteHeader(x.answers[min(int(asked.Add(1)), len(x.answers))-1])
				_, _ = io.WriteString(rw, x.body)
			})
			tracer := openTracer(t, Options{Endpoint: c.URL + "/custom", Ratio: 1})
			follow(tracer, delivery(0, 1), "")
			tracer.Close(context.Background())
			if n := tracer.pipeline.exporter.waiting.Load(); n != 0 {
				t.Errorf("%d spans still count as waiting", n)
			}
			if c.count() != x.posts || tracer.Lost() != x.lost || c.path != "/custom" {
				t.Errorf("%d posts to %s, %d lost", c.count(), c.path, tracer.Lost())
			}
		})
	}
}

// TestCollectorIsDown: nobody listens, and nothing of it comes back to whoever makes spans.
func TestCollectorIsDown(t *testing.T) {
	c := newCollector(t, nil)
	c.Close()
	log := new(testkit.Buffer)
	tracer := openTracer(t, Options{Endpoint: c.URL + "/?key=secret", Ratio: 1, Logger: slog.New(slog.NewTextHandler(log, nil))})
	follow(tracer, delivery(0, 1), "")
	done, cancel := context.WithCancel(context.Background())
	cancel()
	tracer.Close(done)
	if text := log.String(); tracer.Lost() != 1 || !strings.Contains(text, "post spans") || strings.Contains(text, "secret") {
		t.Errorf("%d lost; the log says %q", tracer.Lost(), text)
	}
	follow(tracer, delivery(1, 1), "") // after the end: nothing
}

func TestOpenRefuses(t *testing.T) {
	for want, o := range map[string]Options{
		"no URL of a collector":        {Endpoint: "localhost:4318"},
		"no URL of a collector: it":    {Endpoint: "http://x:secret@/a"},
		"is no URL;":                   {Endpoint: "http://secret\x7f"},
		"is no URL; in a":              {Endpoint: "http://user:9/secret@a"},
		"ratio is 1.5; want 0 to 1":    {Endpoint: "http://a", Ratio: 1.5},
		"ratio is -0.5; want 0 to 1":   {Endpoint: "http://a", Ratio: -0.5},
		"want one such as http://127.": {},
	} {
		_, err := Open(o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v; want something about %q", o, err, want)
		}
	}
}

// BenchmarkAttempt is what an attempt costs whoever launches it, when it is traced and when it is not sampled.
func BenchmarkAttempt(b *testing.B) {
	for name, ratio := range map[string]float64{"sampled=true": 1, "sampled=false": 0} {
		b.Run(name, func(b *testing.B) {
			tracer, err := Open(Options{Endpoint: "http://127.0.0.1:1", Ratio: ratio, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			d := delivery(0, 1)
			b.ReportAllocs()
			for b.Loop() {
				follow(tracer, d, "")
			}
			done, cancel := context.WithCancel(context.Background())
			cancel()
			tracer.Close(done)
		})
	}
}
