package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// meter measures processor time between start and stop: that of the server, and that of processes
// outside the workload, which may distort its figures. On systems without /proc all its figures are 0.
type meter struct {
	// server is a process id.
	server  int
	others  []int // further processes of the workload
	began   time.Time
	elapsed time.Duration
	serverS time.Duration
	// foreign may come out negative by a tick, and is then shown as 0.
	foreign time.Duration
}

// startMeter begins to measure. This process belongs to the workload. Its counters are those of the whole life of the
// processes, which is why it reads them twice.
func startMeter(server int, others ...int) *meter {
	m := &meter{server: server, others: append(others, os.Getpid()), began: time.Now()}
	m.read(-1)
	return m
}

// stop ends the measurement. The processes must still be running.
func (m *meter) stop() {
	m.elapsed = time.Since(m.began)
	m.read(1)
}

// read adds the present counters, multiplied by sign: -1 at the start, 1 at the end.
func (m *meter) read(sign time.Duration) {
	server, ours := cpuOf(m.server), time.Duration(0)
	for _, pid := range m.others {
		ours += cpuOf(pid)
	}
	m.serverS += sign * server
	m.foreign += sign * (measure.Busy() - server - ours)
}

// tell adds the processor time of the server and of processes outside the workload.
func (m *meter) tell(r *result) {
	r.add("server_cpu_percent", "server CPU, of one core", m.percent(m.serverS), "%")
	m.tellForeign(r)
}

// tellEach adds the processor time of the server for each of n things. Unlike a rate, it says the same on a machine that does
// other work.
func (m *meter) tellEach(r *result, thing string, n int) {
	if n > 0 {
		r.add("server_cpu_us_per_"+thing, "server CPU a "+thing, m.serverS.Seconds()*1e6/float64(n), "µs")
	}
}

// tellForeign adds only the processor time of processes outside the workload.
func (m *meter) tellForeign(r *result) {
	r.add("foreign_cpu_percent", "CPU of others, of one core", max(0, m.percent(m.foreign)), "%")
}

// percent returns a processor time in percent of one core over the time of the measurement; it exceeds 100 with
// several cores.
func (m *meter) percent(d time.Duration) float64 { return 100 * d.Seconds() / m.elapsed.Seconds() }

// cpuOf returns the processor time that a process has used.
func cpuOf(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name of the process comes first, in parentheses, and may contain spaces.
	_, rest, _ := strings.Cut(string(text), ") ")
	// Fields 12 and 13 behind the name are user time and system time in ticks, see proc(5).
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	return measure.SumTicks(fields[11:13])
}

// exactCPU returns the processor time that the threads of a process have used, to the nanosecond; cpuOf counts in ticks of
// ten milliseconds, which are too coarse for short times. It is 0 where the system does not say.
func exactCPU(pid int) (sum time.Duration) {
	paths, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat") // the pattern is valid
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		used, _, _ := strings.Cut(string(text), " ")
		if n, err := strconv.ParseInt(used, 10, 64); err == nil {
			sum += time.Duration(n)
		}
	}
	return sum
}
