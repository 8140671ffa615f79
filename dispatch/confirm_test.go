package dispatch

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// pings is a dialer whose connections count the PINGs of the client.
type pings struct{ atomic.Int64 }

func (p *pings) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	return &pinging{conn, p}, err
}

type pinging struct {
	net.Conn
	pings *pings
}

func (c *pinging) Write(b []byte) (int, error) {
	c.pings.Add(int64(bytes.Count(b, []byte("PING\r\n"))))
	return c.Conn.Write(b)
}

// TestConfirmationsPause: launches that come one after the other share their PINGs. A busy machine sends fewer, never more.
func TestConfirmationsPause(t *testing.T) {
	var sent pings
	d := start(t, Options{}, startNATS(t, nil).ClientURL(), nats.SetCustomDialer(&sent))
	before, began := sent.Load(), time.Now()
	outcomes, launch := launcher(d, natsTarget("a"), 300)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range 300 {
		launch(i, 1)
		<-tick.C
	}
	for range 300 {
		if o := testkit.Receive(t, outcomes); o.Error != "" {
			t.Fatalf("outcome has error %q", o.Error)
		}
	}
	if n, most := sent.Load()-before, int64(time.Since(began)/confirmPause)+2; n > most {
		t.Errorf("%d PINGs for 300 launches in %s, want at most %d", n, time.Since(began), most)
	}
}

// TestAwaitedRunIsConfirmedAtOnce: a run for whose end another one may wait does not wait for the next PING, and takes along
// those that do.
func TestAwaitedRunIsConfirmedAtOnce(t *testing.T) {
	d := start(t, Options{confirmPause: time.Hour}, startNATS(t, nil).ClientURL())
	testkit.Receive(t, launch(d, deliveryTo(natsTarget("a"), 0)))
	patient := launch(d, deliveryTo(natsTarget("a"), 1))
	select {
	case <-patient:
		t.Error("a run that nobody waits for was confirmed during the pause")
	case <-time.After(20 * time.Millisecond):
	}
	for i := 2; i < 5; i++ {
		awaited := deliveryTo(natsTarget("a"), i)
		awaited.Awaited = true
		testkit.Receive(t, launch(d, awaited))
	}
	testkit.Receive(t, patient)
}

// TestCrowdedPlacesAreFreedAtOnce: while launches wait for places, the ends of those that have them are confirmed at once.
// Only the first may have begun to wait before.
func TestCrowdedPlacesAreFreedAtOnce(t *testing.T) {
	const pause = 500 * time.Millisecond
	o := Options{confirmPause: pause, InFlight: func(string) int { return 2 }}
	d := start(t, o, startNATS(t, nil).ClientURL())
	began := time.Now()
	outcomes := launchAll(d, natsTarget("a"), 40)
	for _, c := range outcomes[:37] {
		testkit.Receive(t, c)
	}
	if took := time.Since(began); took > 10*pause {
		t.Errorf("twenty pairs took %s", took)
	}
}
