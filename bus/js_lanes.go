package bus

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/inbox"
)

// The bounds of what tenants ask JetStream. A request takes JetStream from 0.05 ms to a few milliseconds, and in a cluster
// a change waits for the disks of a majority besides.
const (
	jsPlaces     = 32               // requests of all tenants that JetStream has at a time
	jsLanePlaces = 8                // those of one tenant
	jsRate       = 500              // requests of a tenant in a second
	jsBurst      = 1000             // and how many may come at once
	jsLineMax    = 1000             // requests of a tenant that wait
	jsLineBytes  = 4 << 20          // and what they take
	jsLinesBytes = 32 << 20         // what those of all tenants take
	jsWaitMax    = 10 * time.Second // how long one waits; a client gives up earlier
	// So many requests of a tenant that find its line full are refused, in a second and at once. Further ones are dropped: to
	// answer costs more than to receive.
	jsFullRate, jsFullBurst = 500, 2000
)

// jsJob is a request of a tenant that waits for its turn.
type jsJob struct {
	*inbox.Request
	what          string // its subject without apiPrefix
	account, user string
	kind          *jsRequest
	came          time.Time
}

// jsLanes are the lines of tenants. Each has a goroutine while requests wait, which waits for one of the common places at
// a time; those that wait for them get them in order, so the tenants take turns. A lane remains for each tenant that has
// ever asked. Safe for concurrent use.
type jsLanes struct {
	work   func(jsJob) // has the answer of JetStream when it returns
	admit  func(jsJob) bool
	expire func(jsJob)

	ctx    context.Context // ends with close
	end    context.CancelFunc
	places chan struct{}

	mu      sync.Mutex
	lanes   map[string]*jsLane // by tenant
	bytes   int                // of the requests that wait
	came    map[string]int     // requests since the last call of takeCame, by tenant
	running sync.WaitGroup     // grows under mu, and not after ctx has ended
}

// jsLane is the line of one tenant. What is not immutable is under the lock of the lanes.
type jsLane struct {
	pace     *rate.Limiter
	full     *rate.Limiter // of requests that find the line full
	places   chan struct{}
	line     fair.FIFO[jsJob]
	bytes    int
	isServed bool // a goroutine serves it, and ends with the line
}

// newJSLanes returns empty lanes. admit is asked in the order of each lane, and what it refuses takes no place; expire gets
// what has waited too long. close ends them.
func newJSLanes(admit func(jsJob) bool, work, expire func(jsJob)) *jsLanes {
	l := &jsLanes{work: work, admit: admit, expire: expire, places: make(chan struct{}, jsPlaces), lanes: make(map[string]*jsLane), came: make(map[string]int)}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// laneEntry is what becomes of a request that comes to a line.
type laneEntry byte

const (
	laneEntered laneEntry = iota // it waits
	laneFull                     // there is no room for it
	laneFlooded                  // there is none, and too many were refused already
)

// enter puts a request into the line of a tenant, if there is room.
func (l *jsLanes) enter(tenant string, j jsJob) laneEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came[tenant]++
	lane := l.lanes[tenant]
	if lane == nil {
		lane = &jsLane{pace: rate.NewLimiter(jsRate, jsBurst), full: rate.NewLimiter(jsFullRate, jsFullBurst), places: make(chan struct{}, jsLanePlaces)}
		l.lanes[tenant] = lane
	}
	size := len(j.Data)
	if lane.line.Len() >= jsLineMax || lane.bytes+size > jsLineBytes || l.bytes+size > jsLinesBytes || l.ctx.Err() != nil {
		if !lane.full.Allow() {
			return laneFlooded
		}
		return laneFull
	}
	lane.line.Push(j)
	lane.bytes += size
	l.bytes += size
	if !lane.isServed {
		lane.isServed = true
		l.running.Go(func() { l.serve(lane) })
	}
	return laneEntered
}

// turnAway counts a request that comes to no line, because it is not known whose it is.
func (l *jsLanes) turnAway() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came[""]++
}

// takeCame returns how many requests have come from each tenant since the last call; "" is that of unknown senders.
func (l *jsLanes) takeCame() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.came) == 0 {
		return nil
	}
	came := l.came
	l.came = make(map[string]int)
	return came
}

// waiting returns how many requests of all tenants wait.
func (l *jsLanes) waiting() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lane := range l.lanes {
		n += lane.line.Len()
	}
	return n
}

// next takes the oldest request of a lane. Without one the lane is not served any more.
func (l *jsLanes) next(lane *jsLane) (j jsJob, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lane.line.Len() == 0 {
		lane.isServed = false
		return j, false
	}
	j = lane.line.Pop()
	lane.bytes -= len(j.Data)
	l.bytes -= len(j.Data)
	return j, true
}

// serve works off a lane until it is empty or the lanes are closed.
func (l *jsLanes) serve(lane *jsLane) {
	for {
		j, ok := l.next(lane)
		if !ok || lane.pace.Wait(l.ctx) != nil {
			return
		}
		if !l.admit(j) {
			continue
		}
		if !l.take(lane.places) {
			return
		}
		if !l.take(l.places) {
			<-lane.places
			return
		}
		if time.Since(j.came) > jsWaitMax {
			l.expire(j)
			<-l.places
			<-lane.places
			continue
		}
		l.running.Go(func() { // serve itself counts, so the group is not empty
			defer func() { <-l.places; <-lane.places }()
			l.work(j)
		})
	}
}

// take waits for a place. It returns false if the lanes are closed.
func (l *jsLanes) take(places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// close drops what waits, and returns when work has returned.
func (l *jsLanes) close() {
	l.mu.Lock()
	l.end()
	l.mu.Unlock()
	l.running.Wait()
}
