package dispatch

import (
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestTenantsTakeTurns lets a herd of one tenant wait for the connection, and then one run of another:
// that does not arrive behind the whole herd, and the herd arrives in its order.
func TestTenantsTakeTurns(t *testing.T) {
	const herd = 2000
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	got := make(chan *nats.Msg, herd+1)
	subscribe(t, dial(t, s.ClientURL()), "a", func(m *nats.Msg) { got <- m })
	d := start(t, Options{}, v.url())
	v.set(false, true)
	v.cut()
	testkit.Until(t, "the dispatcher knows", func() bool { return !d.Stats().NATS.Connected })
	outcomes := launchAll(d, natsTarget("a"), herd)
	other := deliveryTo(natsTarget("a"), herd)
	other.Tenant = "other"
	outcomes = append(outcomes, launch(d, other))
	v.set(false, false)
	for _, c := range outcomes {
		if o := testkit.Receive(t, c); o.Error != "" {
			t.Fatalf("outcome has error %q", o.Error)
		}
	}
	var order []string
	for i := range herd + 1 {
		m := testkit.Receive(t, got)
		if m.Header.Get(headerTenant) != "other" {
			order = append(order, m.Header.Get(headerScheduledAt))
		} else if i > groupMax+publishQuantum {
			t.Errorf("the other tenant's run arrived behind %d of the herd", i)
		}
	}
	if len(order) != herd || !slices.IsSorted(order) {
		t.Error("the herd arrived out of order")
	}
}
