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
	if n, most := sent.Load()-before, 2*int64(time.Since(began)/confirmPause)+2; n > most {
		t.Errorf("%d PINGs for 300 launches in %s, want at most %d", n, time.Since(began), most)
	}
}

// TestAwaitedRunIsConfirmedAtOnce: a run for whose end another one may wait does not wait for the next PING, and takes along
// those that do.
func TestAwaitedRunIsConfirmedAtOnce(t *testing.T) {
	d := start(t, Options{ConfirmPause: time.Hour}, startNATS(t, nil).ClientURL())
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
	o := Options{ConfirmPause: pause, InFlight: func(string) int { return 2 }}
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

// TestShortAttemptIsConfirmedAtOnce: an attempt whose timeout could pass during the pause does not wait for the next PING.
func TestShortAttemptIsConfirmedAtOnce(t *testing.T) {
	d := start(t, Options{ConfirmPause: time.Hour}, startNATS(t, nil).ClientURL())
	testkit.Receive(t, launch(d, deliveryTo(natsTarget("a"), 0)))
	short := deliveryTo(natsTarget("a"), 1)
	short.Timeout = hurriedBelow - time.Millisecond
	if o := testkit.Receive(t, launch(d, short)); o.Error != "" {
		t.Errorf("the attempt failed: %s", o.Error)
	}
}

// TestHurry: whoever waits for the ends of attempts gets them without the pause.
func TestHurry(t *testing.T) {
	d := start(t, Options{ConfirmPause: time.Hour}, startNATS(t, nil).ClientURL())
	testkit.Receive(t, launch(d, deliveryTo(natsTarget("a"), 0)))
	patient := launch(d, deliveryTo(natsTarget("a"), 1))
	for {
		d.Hurry()
		select {
		case o := <-patient:
			if o.Error != "" {
				t.Errorf("outcome has error %q", o.Error)
			}
			return
		case <-time.After(5 * time.Millisecond): // it was not published yet
		case <-t.Context().Done():
			t.Fatal("the attempt is not confirmed")
		}
	}
}

// TestUntilConfirm: PINGs leave a little before the multiples of the pause, and at once after a pause without any.
func TestUntilConfirm(t *testing.T) {
	const pause = 25 * time.Millisecond
	multiple := time.Unix(1_700_000_000, 0)
	for after := range pause {
		if after%(100*time.Microsecond) != 0 {
			continue
		}
		now := multiple.Add(after)
		wait := untilConfirm(now, now.Add(-time.Millisecond), pause)
		if leaves := now.Add(wait + confirmAhead); wait <= 0 || wait > pause || leaves.Sub(multiple)%pause != 0 {
			t.Fatalf("%s after a multiple, the next PING leaves in %s", after, wait)
		}
	}
	if wait := untilConfirm(multiple, multiple.Add(-pause), pause); wait > 0 {
		t.Errorf("after a pause without any, the next PING leaves in %s", wait)
	}
}
