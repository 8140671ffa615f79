package dashboard

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// Options configure a [Dashboard]. The zero value of each field selects its default. They are copied by New.
type Options struct {
	// Insecurity says in a banner on every page how the server is open to other machines. "": no banner.
	Insecurity string
	// Status returns the status of this node's engine, for the charts. Nil: the pages have no charts.
	Status func() scheduler.Status
	// Daybook keeps how late launches were in each minute, for the chart of a day. Nil: the pages have no such chart.
	Daybook Daybook
	// Location returns the zone with an IANA name, in which times are shown. Default: time.LoadLocation.
	Location func(name string) (*time.Location, error)
	Logger   *slog.Logger // default slog.Default()
	// OpenStream counts a stream of a tenant against its quota, or refuses it with a [*client.Error]; done is called when
	// it has ended. Nil: no tenant has a quota.
	OpenStream func(tenant string) (done func(), err error)
	// API returns the OpenAPI document of the server, for the page about it. It is called at most once. Nil: no such page.
	API func() ([]byte, error)
	// HandOver asks the leader of a shard to hand the leadership over to a node, and returns the node that takes it. The only
	// shard of a cluster of one is 0. Nil: there is no cluster.
	HandOver func(ctx context.Context, shard uint32, to, by string) (string, error)
	// Rights says who reads a page and what they may do. Nil: every reader may do everything, and no reader signs in.
	Rights Rights
}

// Dashboard serves the pages. Its methods are safe for concurrent use. Besides the goroutines of its requests it has
// one of its own, which records samples; recording waits for it.
type Dashboard struct {
	// local is safe for concurrent use; it is the only way to data and changes.
	local client.Local
	opts  Options
	// recorder stays empty without Options.Status.
	recorder *recorder
	streams  *streams
	// finder keeps what the pages have found to need attention, for moments.
	finder finder
	// reference is rendered at the first visit of it.
	reference *reference

	// closed ends all streams and the recording; recording is what Close waits for.
	closeOnce sync.Once
	closed    chan struct{}
	recording sync.WaitGroup
}

// New returns the dashboard of a scheduler in this process, and begins to record samples for the charts. The caller
// must call Close. local must stay usable until Close.
func New(local client.Local, opts Options) *Dashboard {
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	if opts.OpenStream == nil {
		opts.OpenStream = func(string) (func(), error) { return func() {}, nil }
	}
	if opts.Location == nil {
		opts.Location = time.LoadLocation
	}
	_ = templates() // a request must not wait for it
	d := &Dashboard{
		local: local, opts: opts, recorder: new(recorder),
		streams: newStreams(streamsMax), reference: newReference(opts.API), closed: make(chan struct{}),
	}
	if opts.Status != nil {
		d.recording.Go(d.record)
	}
	return d
}

// record adds a sample to the recorder, and to the daybook, at each interval sampleEvery, until Close. The first status is read at once,
// so that the first sample is there after one interval.
func (d *Dashboard) record() {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	day := d.dayKeeper()
	add := func(now time.Time) {
		status := d.opts.Status()
		d.recorder.add(now, status)
		day.add(now, status)
	}
	add(time.Now())
	for {
		select {
		case now := <-ticker.C:
			add(now)
		case <-d.closed:
			add(time.Now())
			day.flush()
			return
		}
	}
}

// dayKeeper returns what writes the daybook of the options; without one, into nothing.
func (d *Dashboard) dayKeeper() *dayKeeper {
	book := d.opts.Daybook
	if book == nil {
		book = noDaybook{}
	}
	return &dayKeeper{book: book, logger: d.opts.Logger}
}

// Close ends the streams and the recording. It implements [io.Closer] and always returns nil. It does not wait for
// requests; the HTTP server does. It may be called several times.
func (d *Dashboard) Close() error {
	d.closeOnce.Do(func() { close(d.closed) })
	d.recording.Wait()
	return nil
}

// ServeHTTP implements [http.Handler]. Requests from other sites are refused by the server before they reach it. A
// page and its action may share a path, so that a form that is refused keeps its address.
func (d *Dashboard) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	setHeaders(rw.Header())
	if a, ok := assets[req.URL.Path]; ok {
		a.serve(rw, req)
		return
	}
	isRead := req.Method == http.MethodGet || req.Method == http.MethodHead
	// A path that has only an action is not a page: its GET is a wrong method.
	page, isPage := pages[req.URL.Path]
	act, isAction := actions[req.URL.Path]
	switch {
	case req.URL.Path == livePath && req.Method == http.MethodGet:
		d.serveLive(rw, req)
	case isPage && isRead:
		v := d.visit(req)
		if err := v.spends(); err != nil {
			v.send(rw, failed(err))
			return
		}
		v.send(rw, v.open(page))
	case isAction && req.Method == http.MethodPost:
		d.serveAction(rw, req, act)
	case isPage || isAction || req.URL.Path == livePath:
		d.serveLost(rw, req, http.StatusMethodNotAllowed)
	default:
		d.serveLost(rw, req, http.StatusNotFound)
	}
}

// serveAction carries out the action of a form, if the reader may: what they may not do is refused before the form is
// read, and before anything is looked for. The redirect has the status 303, so that the browser asks for the next page with
// GET.
func (d *Dashboard) serveAction(rw http.ResponseWriter, req *http.Request, act action) {
	v := d.visit(req)
	err := v.permits(act.needs)
	if err == nil {
		err = v.spends()
	}
	if err == nil {
		err = v.readForm(rw)
	}
	if err != nil {
		v.send(rw, failed(err))
		return
	}
	v.standAt(act.from)
	to, page := act.do(v)
	if to == "" {
		v.send(rw, page)
		return
	}
	if v.cookie != nil {
		http.SetCookie(rw, v.cookie)
	}
	http.Redirect(rw, req, to, http.StatusSeeOther)
}
