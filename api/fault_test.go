package api

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// faulty is an engine of which one method misbehaves. The others are not there.
type faulty struct {
	Engine
	get     func(ctx context.Context, name string) error
	putMany func(ctx context.Context)
	prepare func() // may be nil
}

func (f *faulty) Get(ctx context.Context, _, name string) (scheduler.JobView, error) {
	return scheduler.JobView{}, f.get(ctx, name)
}

func (f *faulty) PutMany(ctx context.Context, items []scheduler.PutItem) []scheduler.PutResult {
	f.putMany(ctx)
	results := make([]scheduler.PutResult, len(items))
	for i := range items {
		results[i].Err = items[i].Err
	}
	return results
}

func (f *faulty) Prepare(context.Context, *job.Definition) (*scheduler.Put, error) {
	if f.prepare != nil {
		f.prepare()
	}
	return new(scheduler.Put), nil
}

// prepareNothing accepts a job of a bulk registration.
func prepareNothing(*job.Definition) (*scheduler.Put, error) { return new(scheduler.Put), nil }

// TestInternalErrorsStayInside lets the engine panic and fail: the caller learns nothing of the inside,
// and the service goes on.
func TestInternalErrorsStayInside(t *testing.T) {
	e := &faulty{get: func(_ context.Context, name string) error {
		if name == "panic" {
			panic("secret")
		}
		return errors.New("secret")
	}}
	_, url := startService(t, e, Options{}, 0)
	c := apitest.NewClient(t, url, client.Options{})
	for _, name := range []string{"panic", "error", "panic"} {
		_, err := c.Get(t.Context(), name)
		if refusal, ok := errors.AsType[*client.Error](err); !ok || refusal.Code != client.CodeInternal || refusal.Status != 500 || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPanicOfARead: a request whose reading panics fails alone, and leaves its gate.
func TestPanicOfARead(t *testing.T) {
	s, _ := startService(t, new(faulty), Options{}, 0)
	x, verb := s.executor, VerbNamed("jobs.get")
	g := x.gateOf(verb)
	for range 2 {
		pass, err := g.admit("default", 1)
		if err != nil {
			t.Fatal(err)
		}
		a := arrival{verb: verb, begun: time.Now(), pass: pass, read: func() (Request, error) { panic("secret") }}
		reply, refusal := x.do(t.Context(), a)
		if refusal == nil || refusal.Code != client.CodeInternal || strings.Contains(refusal.Message, "secret") || reply.Text != nil || g.admitted.Taken() != 0 {
			t.Errorf("reply %s, refusal %+v, %d in the gate", reply.Text, refusal, g.admitted.Taken())
		}
	}
}

// TestTenantThatIsNoText: the name of a tenant in a subject may be any bytes.
func TestTenantThatIsNoText(t *testing.T) {
	_, url := startService(t, new(faulty), Options{}, 0)
	nc := apitest.Connect(t, url)
	reply, err := nc.Request("carillon.v1."+strings.Repeat("\x80", 90)+".jobs.list", nil, 10*time.Second)
	if err != nil || !strings.Contains(string(reply.Data), `"code":"invalid_field"`) || !strings.Contains(string(reply.Data), "is no tenant") {
		t.Errorf("%s, %v", reply.Data, err)
	}
}

// TestSlowEngine gives a request no time: the caller learns that there is no answer. A read has no outcome that could be unknown.
func TestSlowEngine(t *testing.T) {
	e := &faulty{get: func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	_, url := startService(t, e, Options{RequestTimeout: 20 * time.Millisecond}, 0)
	_, err := apitest.NewClient(t, url, client.Options{NoRetry: true}).Get(t.Context(), "a")
	if !client.IsUnavailable(err) || !strings.Contains(err.Error(), "no answer in time") || strings.Contains(err.Error(), "unknown") {
		t.Error(err)
	}
}

// TestBusyService fills the gate: the next request is refused at once, and taken when there is room.
func TestBusyService(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	e := &faulty{get: func(context.Context, string) error {
		entered <- struct{}{}
		<-release
		return apierr.Errorf(apierr.NotFound, "name", "there is none")
	}}
	_, url := startService(t, e, Options{RequestsMax: 2}, 0)
	c := apitest.NewClient(t, url, client.Options{})
	var waiting sync.WaitGroup
	for range 2 {
		waiting.Go(func() {
			if _, err := c.Get(t.Context(), "a"); !client.IsNotFound(err) {
				t.Error(err)
			}
		})
		<-entered
	}
	if _, err := c.Get(t.Context(), "a"); !errors.Is(err, client.CodeRateLimited) {
		t.Errorf("a third request: %v", err)
	}
	close(release)
	waiting.Wait()
	go func() { <-entered }()
	if _, err := c.Get(t.Context(), "a"); !client.IsNotFound(err) {
		t.Errorf("a request after the others: %v", err)
	}
}

// TestBulkWaits sends more bulk registrations than run at a time: they wait for each other, and those
// that do not fit the queue are refused.
func TestBulkWaits(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	e := &faulty{putMany: func(context.Context) {
		entered <- struct{}{}
		<-release
	}}
	s, url := startService(t, e, Options{BulkMax: 1, BulkWaiting: 1}, 0)
	c := apitest.NewClient(t, url, client.Options{})
	var waiting sync.WaitGroup
	put := func() {
		if _, err := c.PutMany(t.Context(), []client.Job{apitest.Yearly("a")}); err != nil {
			t.Error(err)
		}
	}
	waiting.Go(put)
	<-entered
	waiting.Go(put)
	for s.executor.bulk.underWay() < 2 {
		if _, err := c.Status(t.Context()); err == nil {
			t.Fatal("the engine has no status")
		}
	}
	if _, err := c.PutMany(t.Context(), nil); !errors.Is(err, client.CodeRateLimited) {
		t.Errorf("a third bulk registration: %v", err)
	}
	close(release)
	<-entered
	waiting.Wait()
}

// TestCloseAnswers closes a service with a request under way, which still gets its reply.
func TestCloseAnswers(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	e := &faulty{get: func(context.Context, string) error {
		close(entered)
		<-release
		return apierr.Errorf(apierr.NotFound, "name", "there is none")
	}}
	s, url := startService(t, e, Options{}, 0)
	c := apitest.NewClient(t, url, client.Options{NoRetry: true})
	answer := make(chan error, 1)
	go func() {
		_, err := c.Get(context.Background(), "a")
		answer <- err
	}()
	<-entered
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Close(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close in a hurry: %v", err)
	}
	close(release)
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-answer; !client.IsNotFound(err) {
		t.Errorf("the request under way: %v", err)
	}
	if _, err := c.Get(t.Context(), "a"); !client.IsUnavailable(err) {
		t.Errorf("a request after the end: %v", err)
	}
}
