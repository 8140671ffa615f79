package dispatch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestEndings lets attempts end in each way, and looks whether they are counted so: by kind, and with how long
// their target had them.
func TestEndings(t *testing.T) {
	begun := make(chan struct{}, 1)
	d := start(t, Options{ConcurrencyPerTarget: 1, Handlers: map[string]Handler{
		"well":  func(context.Context, *job.Delivery) error { return nil },
		"badly": func(context.Context, *job.Delivery) error { return errors.New("away") },
		"refuses": func(context.Context, *job.Delivery) error {
			return fmt.Errorf("as it is: %w", Refuse(errors.New("never")))
		},
		"hangs": func(ctx context.Context, _ *job.Delivery) error {
			select {
			case begun <- struct{}{}:
			default:
			}
			<-ctx.Done()
			return ctx.Err()
		},
	}}, "")
	for n, name := range []string{"well", "badly", "refuses", "hangs"} {
		del := deliveryTo(handlerTarget(name), n)
		if name == "hangs" {
			del.Timeout = 20 * time.Millisecond
		}
		testkit.Receive(t, launch(d, del))
	}
	testkit.Receive(t, begun)
	testkit.Until(t, "the lanes are gone", func() bool { return d.Stats().Lanes == 0 })

	under := deliveryTo(handlerTarget("hangs"), 10)
	cancelled := launch(d, under)
	testkit.Receive(t, begun)
	waits := launch(d, deliveryTo(handlerTarget("hangs"), 11))
	d.Cancel(under.Run)
	testkit.Receive(t, cancelled)
	testkit.Receive(t, begun)
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	_ = d.Close(stop)
	testkit.Receive(t, waits)

	st := d.Stats()
	want := [Endings]uint64{1, 1, 1, 1, 1, 1}
	if got := st.ByKind[job.TargetHandler]; got.Ended != want || got.Delivered != 1 || got.Failed != 5 {
		t.Errorf("%v by ending; want each once (%v)", got.Ended, got)
	}
	if st.Ended != want || st.ByKind[job.TargetHTTP].Ended != [Endings]uint64{} {
		t.Errorf("%v of all kinds, %v of http", st.Ended, st.ByKind[job.TargetHTTP].Ended)
	}
	if took := st.Took[job.TargetHandler]; took.Count != 6 || took.Max < 0.02 {
		t.Errorf("%d attempts left, the longest took %v s; want all", took.Count, took.Max)
	}
}
