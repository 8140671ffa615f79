package api

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/histogram"
)

// way is how a request came, as the metrics name it. The ways before the constant ways have a histogram each; calls
// in this process are not counted.
type way uint8

// Ways of requests.
const (
	overNATS way = iota
	overHTTP
	overCluster // from a standby, to which it came over HTTP
	// Everything from here on has no histogram: its index would be out of range.
	ways // number of ways that are counted
	inProcess
)

// String returns the name of a way, as the metrics and the traces have it.
func (w way) String() string {
	return [...]string{overNATS: "nats", overHTTP: "http", overCluster: "forwarded", inProcess: "local"}[w]
}

// verbStats counts the requests of one verb by how they ended. A nil verbStats counts nothing. Safe for concurrent
// use. The map is fixed, so counting is two atomic additions and a histogram; a map under a lock would be shared by
// every request of the server.
type verbStats struct {
	byCode map[apierr.Code]*atomic.Uint64 // "" means success; the keys are fixed
	// took has the time of every request that ended, whatever its code.
	took [ways]histogram.Times

	// Of the refused requests over NATS: how many, and the code of the last. They are for the standard counters of
	// NATS services, which describe one way only.
	refused     atomic.Uint64
	lastRefusal atomic.Pointer[apierr.Code]
}

// newVerbStats returns counters at zero, one for success and one for each code that a verb may return.
func newVerbStats() *verbStats {
	st := &verbStats{byCode: map[apierr.Code]*atomic.Uint64{"": new(atomic.Uint64)}}
	for code := range statusOf {
		st.byCode[code] = new(atomic.Uint64)
	}
	return st
}

// count counts a request that has ended. It takes no lock.
func (st *verbStats) count(code apierr.Code, over way, took time.Duration) {
	if st == nil {
		return
	}
	// A code that is not in the table is not counted by code, and is in the histogram all the same.
	if n, ok := st.byCode[code]; ok {
		n.Add(1)
	}
	if code != "" && over == overNATS {
		last := code // a copy, so that only a refusal allocates
		st.refused.Add(1)
		st.lastRefusal.Store(&last)
	}
	st.took[over].Record(took)
}

// Counts are the readings of an executor's counters, since it was made.
type Counts struct {
	InProgress int64 // requests without a reply yet
	ReplyBytes int   // memory that is reserved for replies
	// RefusalsDropped are refusals over NATS that were not sent, because too many of the same tenant waited.
	RefusalsDropped uint64
	Verbs           map[string]VerbCounts // of each verb
}

// VerbCounts are the readings of the counters of one verb. What has not occurred is not in them.
type VerbCounts struct {
	Ended map[apierr.Code]uint64       // requests by code; "" is success
	Took  map[string]histogram.Reading // seconds from arrival to reply, by the way that the requests came: nats, http or forwarded
}

// Counts reads the counters. The readings are not taken at one instant, so a sum over codes may differ from a
// histogram by the requests that end meanwhile.
func (x *Executor) Counts() Counts {
	c := Counts{InProgress: x.underWay.Load(), ReplyBytes: x.rooms.held(), RefusalsDropped: x.pacer.lost(), Verbs: make(map[string]VerbCounts, len(x.stats))}
	for verb, st := range x.stats {
		v := VerbCounts{Ended: make(map[apierr.Code]uint64), Took: make(map[string]histogram.Reading, ways)}
		for over := range ways {
			if r := st.took[over].Read(); r.Count > 0 {
				v.Took[over.String()] = r
			}
		}
		st.each(func(code apierr.Code, n uint64) { v.Ended[code] = n })
		c.Verbs[verb] = v
	}
	return c
}

// statsData is what `nats micro stats` shows of a verb besides the counters of every service: the requests of all
// ways, and their errors by code.
type statsData struct {
	// Answered counts refusals too: they are answers.
	Answered  uint64            `json:"answered"`
	Errors    map[string]uint64 `json:"errors,omitempty"` // by code
	AverageMS float64           `json:"average_ms"`
}

// snapshot reads the counters for `nats micro stats`. The average is over all ways.
func (st *verbStats) snapshot() statsData {
	var d statsData
	st.each(func(code apierr.Code, n uint64) {
		d.Answered += n
		if code != "" {
			if d.Errors == nil {
				d.Errors = make(map[string]uint64)
			}
			d.Errors[string(code)] = n
		}
	})
	if d.Answered > 0 {
		spent := 0.0
		for over := range ways {
			spent += st.took[over].Read().Sum
		}
		d.AverageMS = millis(histogram.Duration(spent / float64(d.Answered)))
	}
	return d
}

// errorsOverNATS returns how many requests over NATS were refused, and the code of the last; "" if none was.
func (st *verbStats) errorsOverNATS() (n int, last string) {
	if code := st.lastRefusal.Load(); code != nil {
		last = string(*code)
	}
	return int(st.refused.Load()), last
}

// each calls fn for the codes that have occurred, in alphabetical order.
func (st *verbStats) each(fn func(code apierr.Code, n uint64)) {
	for _, code := range slices.Sorted(maps.Keys(st.byCode)) {
		if n := st.byCode[code].Load(); n > 0 {
			fn(code, n)
		}
	}
}

// millis returns a duration in the fractional milliseconds of the API. Microseconds are its finest step, so the
// texts of replies stay short.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
