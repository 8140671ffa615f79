package dispatch

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/carillon-io/carillon/dispatch/dispatchtest"
	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestConformance holds every kind of target to the same suite.
func TestConformance(t *testing.T) {
	beds := []struct {
		kind job.TargetKind
		bed  func(t *testing.T) dispatchtest.Bed
	}{
		{job.TargetNATS, natsBed},
		{job.TargetRequest, requestBed},
		{job.TargetJetStream, jetStreamBed},
		{job.TargetHTTP, httpBed},
		{job.TargetHandler, handlerBed},
	}
	for _, b := range beds {
		t.Run("kind="+b.kind.String(), func(t *testing.T) { dispatchtest.Run(t, b.bed) })
	}
}

func newArrivals() chan dispatchtest.Arrival {
	return make(chan dispatchtest.Arrival, dispatchtest.LaunchesMax)
}

func arrivalOf(m *nats.Msg) dispatchtest.Arrival {
	return dispatchtest.Arrival{Payload: m.Data, Header: m.Header.Get}
}

// bedPlaces is how many attempts the targets of the suite have at a time.
const bedPlaces = 48

// natsBed stalls the connection itself: a core publish has nobody else who could hang.
func natsBed(t *testing.T) dispatchtest.Bed {
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	arrivals := newArrivals()
	subscribe(t, dial(t, s.ClientURL()), "a.b", func(m *nats.Msg) { arrivals <- arrivalOf(m) })
	return dispatchtest.Bed{
		Sender:   start(t, Options{PublishMax: bedPlaces * 4 / 3}, v.url()), // a tenant has three quarters
		Target:   job.Target{Kind: job.TargetNATS, Subject: "a.b"},
		Places:   bedPlaces,
		Arrivals: arrivals,
		Stall:    func() { v.set(true, false) },
	}
}

func requestBed(t *testing.T) dispatchtest.Bed {
	s := startNATS(t, nil)
	arrivals := newArrivals()
	stalled := make(chan struct{})
	subscribe(t, dial(t, s.ClientURL()), "svc", func(m *nats.Msg) {
		select {
		case <-stalled:
		default:
			arrivals <- arrivalOf(m)
			_ = m.Respond([]byte("done"))
		}
	})
	return dispatchtest.Bed{
		Sender:   start(t, Options{ConcurrencyPerTarget: bedPlaces}, s.ClientURL()),
		Target:   job.Target{Kind: job.TargetRequest, Subject: "svc"},
		Places:   bedPlaces,
		Arrivals: arrivals,
		Stall:    func() { close(stalled) },
	}
}

// jetStreamBed stalls by a subscriber in the stream's place, which acknowledges nothing.
func jetStreamBed(t *testing.T) dispatchtest.Bed {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	js, stream := addStream(t, nc, jetstream.StreamConfig{Name: "RUNS", Subjects: []string{"runs.>"}})
	arrivals := newArrivals()
	subscribe(t, nc, "runs.>", func(m *nats.Msg) { arrivals <- arrivalOf(m) })
	return dispatchtest.Bed{
		Sender:   start(t, Options{StreamWindow: bedPlaces}, s.ClientURL()),
		Target:   job.Target{Kind: job.TargetJetStream, Subject: "runs.a"},
		Places:   bedPlaces,
		Arrivals: arrivals,
		Stall: func() {
			if err := js.DeleteStream(t.Context(), stream.CachedInfo().Config.Name); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func addStream(t testing.TB, nc *nats.Conn, c jetstream.StreamConfig) (jetstream.JetStream, jetstream.Stream) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return js, stream
}

func httpBed(t *testing.T) dispatchtest.Bed {
	arrivals := newArrivals()
	stalled := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // all of it, or the server does not see the client go
		select {
		case <-stalled:
			<-r.Context().Done()
		default:
			arrivals <- dispatchtest.Arrival{Payload: body, Header: r.Header.Get}
		}
	})
	return dispatchtest.Bed{
		Sender:   start(t, Options{AllowPrivateTargets: true, ConcurrencyPerTarget: bedPlaces}, ""),
		Target:   job.Target{Kind: job.TargetHTTP, Method: "POST", URL: url + "/hook?key=1"},
		Places:   bedPlaces,
		Arrivals: arrivals,
		Stall:    func() { close(stalled) },
	}
}

// serve runs a real HTTP server until the test ends, when the contexts of its requests end too.
func serve(t testing.TB, h http.HandlerFunc) (url string) {
	ending, end := context.WithCancel(context.Background())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ending, cancel)()
		h(w, r.WithContext(ctx))
	}))
	t.Cleanup(func() {
		end()
		s.Close()
	})
	return s.URL
}

// handlerBed stalls in a handler that does not even look at its context.
func handlerBed(t *testing.T) dispatchtest.Bed {
	arrivals := newArrivals()
	stalled, ended := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(ended) })
	handler := func(_ context.Context, d *job.Delivery) error {
		select {
		case <-stalled:
			<-ended
		default:
			arrivals <- dispatchtest.Arrival{Payload: d.Payload, Header: headersOf(d)}
		}
		return nil
	}
	return dispatchtest.Bed{
		Sender:   start(t, Options{ConcurrencyPerTarget: bedPlaces, Handlers: map[string]Handler{"h": handler}}, ""),
		Target:   job.Target{Kind: job.TargetHandler, Handler: "h"},
		Places:   bedPlaces,
		Arrivals: arrivals,
		Stall:    func() { close(stalled) },
	}
}

// headersOf shows a delivery as the targets that are reached by a protocol see it.
func headersOf(d *job.Delivery) func(string) string {
	headers := map[string]string{
		headerRunID:       d.Run.String(),
		headerJob:         d.Name,
		headerTenant:      d.Tenant,
		headerScheduledAt: d.Run.At.String(),
		headerAttempt:     strconv.Itoa(int(d.Attempt)),
		headerFence:       strconv.Itoa(int(d.Fence)),
	}
	for _, h := range d.Headers {
		headers[h.Key] = h.Value
	}
	return func(name string) string { return headers[name] }
}
