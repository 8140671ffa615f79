package scheduler

import (
	"context"
	"testing"
	"time"
)

// TestDroppingWaitsForNoNotice: what is kept of a deleted job cannot be dropped, because a notice of it waits again since the
// announcer found none. The announcer goes on, so that it can publish that notice.
func TestDroppingWaitsForNoNotice(t *testing.T) {
	s, _ := newDeadSim(t)
	s.opts.Announcer, s.opts.Settings.Events = silent{}, true
	s.crash()
	s.call(func() {
		q := s.backfillRequest(1)
		_, err := s.engine.Backfill(context.Background(), q)
		if err == nil {
			_, err = s.engine.Delete(context.Background(), "default", "a", nil)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if waiting := s.engine.Status().Notices; waiting == 0 || s.engine.droppable.Load() == 0 {
		t.Fatalf("%d notices wait, %d may be dropped", waiting, s.engine.droppable.Load())
	}
	s.call(func() {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := s.engine.dropDeleted(ctx); err != nil {
			t.Errorf("%v; want it to end when it gets nowhere", err)
		}
	})
}
