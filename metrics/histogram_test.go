package metrics

import (
	"errors"
	"io"
	"math"
	"net/http/httptest"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/scheduler"
)

// acceptNative is what Prometheus asks for when it takes native histograms.
const acceptNative = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.3"

// families scrapes a node, and returns what it shows by name.
func families(t testing.TB, engine Engine, accept string) map[string]*dto.MetricFamily {
	t.Helper()
	req := httptest.NewRequest("GET", "/metrics", nil)
	req.Header.Set("Accept", accept)
	rec := httptest.NewRecorder()
	New(Options{Logger: quiet, Shards: just(Shard{Engine: engine})}).ServeHTTP(rec, req)
	decoder := expfmt.NewDecoder(rec.Body, expfmt.ResponseFormat(rec.Header()))
	all := make(map[string]*dto.MetricFamily)
	for {
		f := new(dto.MetricFamily)
		err := decoder.Decode(f)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[f.GetName()] = f
	}
}

// latenesses are what is counted below: two at once, which share a bucket, one far off and one next to it.
var latenesses = []time.Duration{0, time.Millisecond, time.Millisecond, 1200 * time.Microsecond, 70 * time.Second}

func lateEngine() Engine {
	var h histogram.Times
	for _, d := range latenesses {
		h.Record(d)
	}
	return reading{scheduler.Status{Lateness: scheduler.Lateness{Count: 5, Spread: h.Read()}}}
}

// TestClassicHistogram: a scraper that asks for text gets buckets with bounds.
func TestClassicHistogram(t *testing.T) {
	h := families(t, lateEngine(), "text/plain")["carillon_launch_lateness_seconds"].GetMetric()[0].GetHistogram()
	want := map[float64]uint64{0.00025: 1, 0.001: 1, 0.0025: 4, 60: 4, 600: 5, math.Inf(1): 5}
	for _, b := range h.GetBucket() {
		if n, ok := want[b.GetUpperBound()]; ok && n != b.GetCumulativeCount() {
			t.Errorf("%d were within %v s, want %d", b.GetCumulativeCount(), b.GetUpperBound(), n)
		}
		delete(want, b.GetUpperBound())
	}
	if len(want) != 0 || h.GetSampleCount() != 5 || math.Abs(h.GetSampleSum()-70.0032) > 1e-6 || h.GetSchema() != 0 {
		t.Errorf("%v, without the bounds %v", h, want)
	}
}

// TestNativeHistogram: a scraper that asks for native histograms gets the same values in them, besides the classic
// ones.
func TestNativeHistogram(t *testing.T) {
	all := families(t, lateEngine(), acceptNative)
	h := all["carillon_launch_lateness_seconds"].GetMetric()[0].GetHistogram()
	if h.GetZeroCount() != 1 || len(h.GetBucket()) == 0 || h.GetSchema() != nativeSchema {
		t.Errorf("the histogram is %v", h)
	}
	counts := nativeCounts(h)
	for _, d := range latenesses[1:] {
		if counts[nativeIndex(d.Seconds())]+counts[nativeIndex(d.Seconds()*1.125)] == 0 {
			t.Errorf("nothing near %s in %v", d, counts)
		}
	}
	var sum int64
	for _, n := range counts {
		sum += n
	}
	if sum != 4 {
		t.Errorf("%d in %v, want 4", sum, counts)
	}
	if empty := all["carillon_commit_seconds"].GetMetric()[0].GetHistogram(); empty.GetZeroThreshold() == 0 || len(nativeCounts(empty)) != 0 {
		t.Errorf("one of nothing is %v", empty)
	}
}

// nativeCounts reads the buckets of a native histogram, as a scraper does.
func nativeCounts(h *dto.Histogram) map[int64]int64 {
	counts := make(map[int64]int64)
	index, count, deltas := int64(0), int64(0), h.GetPositiveDelta()
	for _, span := range h.GetPositiveSpan() {
		index += int64(span.GetOffset())
		for range span.GetLength() {
			count += deltas[0]
			counts[index] = count
			deltas = deltas[1:]
			index++
		}
	}
	return counts
}

// TestNativeIndex: a value is at most the bound of its bucket, and above that of the one before.
func TestNativeIndex(t *testing.T) {
	bound := func(i int64) float64 { return math.Exp2(float64(i) / (1 << nativeSchema)) }
	for v := 1e-6; v < 1e7; v *= 1.07 {
		if i := nativeIndex(v); v > bound(i)*(1+1e-12) || v <= bound(i-1)*(1-1e-12) {
			t.Errorf("%v is in the bucket from %v to %v", v, bound(i-1), bound(i))
		}
	}
	if i := nativeIndex(1); i != 0 {
		t.Errorf("1 is in bucket %d, want 0", i)
	}
}
