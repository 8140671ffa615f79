package scheduler

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// TestCalendarsOfATenant has many callers put calendars of one tenant at a time: exactly as many as the tenant may have
// are created, and those of another tenant, and changes of those that are there, are not refused.
func TestCalendarsOfATenant(t *testing.T) {
	var most atomic.Int64 // of the tenant few
	most.Store(5)
	ctx, cancel := context.WithCancel(t.Context())
	e := must(Open(Options{
		Log: &memLog{}, Store: newMemStore(), Sender: &countingSender{},
		CalendarsMax: func(tenant string) int { return map[string]int{"few": int(most.Load())}[tenant] },
	}))
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	defer func() {
		cancel()
		<-ended
	}()
	put := func(tenant string, n int) error {
		_, _, err := e.PutCalendar(t.Context(), &job.Calendar{Tenant: tenant, Name: fmt.Sprint("c", n), Exclude: []string{"2026-01-06"}})
		return err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	created, refused := 0, 0
	for n := range 40 {
		all.Go(func() {
			err := put("few", n)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				created++
			case apierr.From(err).Code == apierr.QuotaExceeded && strings.Contains(err.Error(), "has 5 calendars, and may have 5"):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n, err := e.CountCalendars("few"); created != 5 || refused != 35 || n != 5 || err != nil {
		t.Errorf("%d were created, %d refused, %d are there, %v", created, refused, n, err)
	}
	for n := range 1001 {
		if err := put("other", n); (err == nil) != (n < 1000) {
			t.Fatalf("calendar %d of a tenant without a quota: %v", n, err)
		}
	}
	if err := put("other", 7); err != nil {
		t.Errorf("a change: %v", err)
	}
	list, err := e.Calendars(t.Context(), "few", "", 10)
	if err != nil || len(list) != 5 {
		t.Fatalf("%d calendars, %v", len(list), err)
	}
	if err := e.DeleteCalendar(t.Context(), "few", list[0].Name); err != nil {
		t.Fatal(err)
	}
	if err := put("few", 100); err != nil {
		t.Errorf("after a delete: %v", err)
	}
	most.Store(4) // what is there stays
	if err := put("few", 101); err == nil {
		t.Error("one more than a smaller quota was created")
	}
	if err := put("few", 100); err != nil {
		t.Errorf("a change above a smaller quota: %v", err)
	}
}
