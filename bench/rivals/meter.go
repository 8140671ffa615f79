package main

import (
	"os"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// meter measures processor time over a while: that of the server, that of the receiver, and that of
// processes which have nothing to do with either and may spoil the figures.
type meter struct {
	pids  [2]int // server, receiver
	began time.Time
	spent [2]time.Duration
	other time.Duration
	took  time.Duration
}

// startMeter begins to measure.
func startMeter(server, receiver int) *meter {
	m := &meter{pids: [2]int{server, receiver}, began: time.Now()}
	m.read(-1)
	return m
}

// stop ends the measuring. The processes must still be there.
func (m *meter) stop() {
	m.read(1)
	m.took = time.Since(m.began)
}

// read adds the counters as they stand, or takes them off.
func (m *meter) read(sign time.Duration) {
	ours := cpuOfOne(os.Getpid())
	for i, pid := range m.pids {
		spent := cpuOf(pid)
		m.spent[i] += sign * spent
		ours += spent
	}
	m.other += sign * (measure.Busy() - ours)
}

// tell reports what a number of fires cost.
func (m *meter) tell(r *result, fires int) {
	a := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(max(fires, 1)) }
	r.figure("server_cpu_us", "server CPU a fire", a(m.spent[0]), "µs")
	r.figure("receiver_cpu_us", "receiver CPU a fire", a(m.spent[1]), "µs")
	r.figure("cpu_us", "both", a(m.spent[0]+m.spent[1]), "µs")
	r.figure("foreign_cpu_percent", "CPU of others, of one core", max(0, 100*m.other.Seconds()/m.took.Seconds()), "%")
}
