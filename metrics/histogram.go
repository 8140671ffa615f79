package metrics

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/carillon-io/carillon/histogram"
)

// Bounds of classic buckets. Those of durations show both a millisecond and an outage.
var (
	// Each bound is a series per label set, which the server of Prometheus keeps; so there are few, with steps of 2
	// to 2.5.
	secondsBounds = []float64{
		0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600,
	}
	// A commit may have at most 1 MiB; the last bound shows that none is larger.
	bytesBounds = []float64{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
)

// Shape of native histograms: four buckets for each power of two. They are a little wider than the buckets in which
// package histogram counts, so that no bucket between two others is empty only because of that. Values below half a
// microsecond are in the zero bucket.
const (
	nativeSchema = 2
	nativeZero   = 0x1p-21
)

// spread shows a histogram in both forms. Scrapers that read native histograms get the native one; the text format
// has only the classic one. The library's own histogram counts what it observes; this one shows what was counted
// elsewhere, at the cost of a conversion for each scrape.
type spread struct {
	desc   *prometheus.Desc
	labels []*dto.LabelPair
	// reading is a copy, taken when the metric was collected.
	reading histogram.Reading
	// bounds are the upper ends of the classic buckets, ascending, without infinity.
	bounds []float64
}

// secondsOf shows a histogram of durations. The number of labels must be that of the description.
func secondsOf(desc *prometheus.Desc, r histogram.Reading, labels ...string) prometheus.Metric {
	return &spread{desc, prometheus.MakeLabelPairs(desc, labels), r, secondsBounds}
}

// bytesOf shows a histogram of sizes.
func bytesOf(desc *prometheus.Desc, r histogram.Reading, labels ...string) prometheus.Metric {
	return &spread{desc, prometheus.MakeLabelPairs(desc, labels), r, bytesBounds}
}

// Desc implements [prometheus.Metric].
func (s *spread) Desc() *prometheus.Desc { return s.desc }

// Write implements [prometheus.Metric]. The format has pointers for all numbers, so each scrape allocates; a
// recording does not. The reading is a copy, so it cannot change while it is written.
func (s *spread) Write(out *dto.Metric) error {
	h := &dto.Histogram{
		SampleCount: new(s.reading.Count), SampleSum: new(s.reading.Sum),
		Schema: new(int32(nativeSchema)), ZeroThreshold: new(float64(nativeZero)),
	}
	for i, n := range s.reading.Within(s.bounds) {
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: new(s.bounds[i]), CumulativeCount: new(n)})
	}
	addNative(h, s.reading)
	out.Label, out.Histogram = s.labels, h
	return nil
}

// addNative adds the native buckets: spans of adjacent buckets, each count as the difference from the one before. The
// encoding is that of the Prometheus exposition format: an offset from the end of the span before, and deltas of
// counts, which are small numbers for neighbours.
func addNative(h *dto.Histogram, r histogram.Reading) {
	var zero uint64
	var last, next int64 // count of the last bucket, and the index after it
	h.ZeroCount = &zero
	r.Each(func(top float64, n uint64) {
		if top <= nativeZero {
			zero += n
			return
		}
		index, count := nativeIndex(top), int64(n)
		spans := len(h.PositiveSpan)
		if spans > 0 && index == next-1 { // in the same bucket as the one before
			h.PositiveDelta[len(h.PositiveDelta)-1] += count
			last += count
			return
		}
		// A gap of empty buckets ends the span.
		if spans == 0 || index > next {
			h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: new(int32(index - next)), Length: new(uint32(0))})
			spans++
		}
		*h.PositiveSpan[spans-1].Length++
		h.PositiveDelta = append(h.PositiveDelta, count-last)
		last, next = count, index+1
	})
}

// nativeIndex returns the index of the native bucket of a value. The bucket's upper bound is two to the power of a
// quarter of the index. value must be positive.
func nativeIndex(value float64) int64 {
	return int64(math.Ceil(math.Log2(value) * (1 << nativeSchema)))
}
