package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// floodRun is one kind of noise at one server, and what was measured so far.
type floodRun struct {
	*floodCmd
	stand  *stand
	server *server
	noise  string // address of the noise in the flood
	aside  string // address of the noise of the control; "" without one
	other  *bystander

	quiet, control, flood floodSide
}

// floodSide is what was measured in the phases of one sort.
type floodSide struct {
	phases []*phase
	server time.Duration // processor time of the server
	others time.Duration // that of processes outside the workload; it may come out negative by a tick
	noise  time.Duration // that of the noise
	took   time.Duration

	sent, answered, limited, losses int // of the noise
}

// run measures one kind of noise in rounds.
func (c *floodCmd) run(s *stand, r *result) error {
	srv, keys, err := c.start(s, "")
	if err != nil {
		return err
	}
	defer srv.clear()
	f := &floodRun{floodCmd: c, stand: s, server: srv, noise: keys.of(noisyTenant, srv.ready.NATS)}
	if c.Control {
		second, keys, err := c.start(s, "-control")
		if err != nil {
			return err
		}
		defer second.clear()
		f.aside = keys.of(noisyTenant, second.ready.NATS)
	}
	address := keys.of(otherTenant, srv.ready.NATS)
	recv, err := s.startReceiver(address, fireSubject+".*")
	if err != nil {
		return err
	}
	from, err := c.register(s, address)
	if err != nil {
		return err
	}
	if f.other, err = newBystander(address); err != nil {
		return err
	}
	defer f.other.nc.Close()
	s.wait(time.Until(from))
	before, memory, err := f.rounds()
	if err != nil {
		return err
	}
	receipts, err := recv.collect()
	if err != nil {
		return err
	}
	f.tell(r, receipts)
	f.other.tell(r)
	tellBroken(srv, r)
	tellMemory(r, before, memory)
	return srv.stop()
}

// rounds measures all rounds. It returns the memory of the server before the first flood, and the most of it.
func (f *floodRun) rounds() (before, most float64, err error) {
	watch := func() float64 { return 0 }
	for i := range f.Rounds {
		f.stand.say("flood: round %d of %d (%s)", i+1, f.Rounds, f.Mix)
		if err = f.calm(i); err != nil {
			break
		}
		if f.aside != "" {
			if err = f.flooded(&f.control, fmt.Sprint("control-", i), f.aside); err != nil {
				break
			}
		}
		if i == 0 {
			before, _ = f.server.memory()
			watch = watchMemory(f.server)
		}
		if err = f.flooded(&f.flood, fmt.Sprint("flood-", i), f.noise); err != nil {
			break
		}
	}
	return before, watch(), err
}

// calm measures the other tenant without noise.
func (f *floodRun) calm(round int) error {
	over := make(chan struct{})
	time.AfterFunc(f.Quiet, func() { close(over) })
	_, err := f.act(f.stand.ctx, &f.quiet, fmt.Sprint("quiet-", round), over)
	return err
}

// act measures the other tenant until over is closed.
func (f *floodRun) act(ctx context.Context, side *floodSide, name string, over <-chan struct{}) (*meter, error) {
	m := startMeter(f.server.cmd.Process.Pid)
	p, err := f.other.act(ctx, name, over)
	m.stop()
	if err != nil {
		return m, err
	}
	side.phases = append(side.phases, p)
	side.server += m.serverS
	side.others += m.foreign
	side.took += m.elapsed
	return m, nil
}

// flooded measures the other tenant until noise to an address has ended, and rests.
func (f *floodRun) flooded(side *floodSide, name, address string) error {
	noise, err := f.stand.startNoise(address, f.floodCmd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(f.stand.ctx, f.For+floodMost)
	defer cancel()
	_, err = f.act(ctx, side, name, noise.ended)
	if ctx.Err() != nil && f.stand.ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("the noise did not end within %s", f.For+floodMost))
	}
	text, failed := noise.collect()
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	var sent, answered, limited, losses int
	if _, err := fmt.Sscan(text, &sent, &answered, &limited, &losses); err != nil {
		return fmt.Errorf("the noise said %q", text)
	}
	side.sent, side.answered, side.limited, side.losses = side.sent+sent, side.answered+answered, side.limited+limited, side.losses+losses
	side.noise += noise.used()
	side.others -= noise.used() // it has ended, so the meter no longer finds it
	f.stand.wait(floodRest)
	return nil
}

// watchMemory measures the memory of a server until the result is called, which returns the most of it, in bytes.
func watchMemory(srv *server) func() float64 {
	stop, most := make(chan struct{}), make(chan float64)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		var high float64
		for {
			resident, _ := srv.memory()
			high = max(high, resident)
			select {
			case <-tick.C:
			case <-stop:
				most <- high
				return
			}
		}
	}()
	return func() float64 {
		close(stop)
		return <-most
	}
}
