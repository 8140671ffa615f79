package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// rivalsCmd runs the same workloads for all rivals, one after the other.
type rivalsCmd struct {
	Binary    string   `help:"Carillon's server." type:"path" default:"../../bin/carillon" placeholder:"PATH"`
	Rivals    []string `help:"Who takes part: ${default}." default:"bare,carillon,nats,river,asynq" placeholder:"NAMES"`
	Workloads []string `help:"What is measured: ${default}." default:"registration,herd,firing" placeholder:"NAMES"`

	Rate  int           `help:"firing: jobs a second." default:"1000"`
	For   time.Duration `help:"firing: how long." default:"20s"`
	Armed int           `help:"firing: jobs besides, pending far in the future." default:"100000"`
	Herd  int           `help:"herd: jobs that are due at one instant." default:"10000"`

	Clients int           `help:"registration: clients at the same time, after the one alone." default:"64"`
	PutFor  time.Duration `help:"registration: how long they register, one job a call." default:"2s"`
	Bulk    int           `help:"registration: jobs that are registered in bulk." default:"50000"`
}

// Bounds of the command line.
const (
	rateMax    = 50_000
	jobsMax    = 20_000_000
	clientsMax = 1024
	lengthMax  = time.Hour
	startWait  = 30 * time.Second // for a server to be up
	stopWait   = 10 * time.Second // for a server to end
)

var (
	rivalNames    = []string{bareRival, carillonRival, "nats", "river", "asynq"}
	workloadNames = []string{"registration", "herd", "firing"}
)

// Validate refuses names that no rival has and sizes that make no sense.
func (c *rivalsCmd) Validate() error {
	for _, err := range []error{
		among("rivals", c.Rivals, rivalNames),
		among("workloads", c.Workloads, workloadNames),
		within("rate", c.Rate, 1, rateMax),
		within("armed", c.Armed, 0, jobsMax),
		within("herd", c.Herd, 1, jobsMax),
		within("clients", c.Clients, 1, clientsMax),
		within("bulk", c.Bulk, 1, jobsMax),
		within("for", c.For, time.Second, lengthMax),
		within("put-for", c.PutFor, 100*time.Millisecond, lengthMax),
	} {
		if err != nil {
			return err
		}
	}
	return within("rate times --for", int(float64(c.Rate)*c.For.Seconds()), 1, jobsMax)
}

func within[T int | time.Duration](flag string, value, low, high T) error {
	if value < low || value > high {
		return fmt.Errorf("--%s is %v; want %v to %v", flag, value, low, high)
	}
	return nil
}

// among refuses a list that is empty, or has a name that is not known or is there twice.
func among(flag string, list, known []string) error {
	if len(list) == 0 {
		return fmt.Errorf("--%s is empty; want some of %s", flag, strings.Join(known, ","))
	}
	for i, name := range list {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--%s has %q; want some of %s", flag, name, strings.Join(known, ","))
		}
		if slices.Contains(list[:i], name) {
			return fmt.Errorf("--%s has %q twice", flag, name)
		}
	}
	return nil
}

// Run measures.
func (c *rivalsCmd) Run(r *report) error {
	modes, err := c.present(r)
	if err != nil {
		return err
	}
	if err := c.demand(r); err != nil {
		return err
	}
	for _, workload := range workloadNames {
		if !slices.Contains(c.Workloads, workload) {
			continue
		}
		for _, m := range modes {
			if r.interrupted() {
				break
			}
			if workload == "registration" && m.sameServer {
				continue
			}
			r.add(c.measure(r, workload, m))
		}
	}
	printTables(r, modes)
	return nil
}

// measure runs one workload for one mode.
func (c *rivalsCmd) measure(r *report, workload string, m mode) result {
	r.say("%s: %s", workload, m.name)
	s := &stand{report: r, mode: m, dir: filepath.Join(r.dir, workload+"-"+m.name)}
	s.result = result{Name: workload + "/" + m.name, Setting: m.setting}
	if err := c.onFresh(s, workload); err != nil && !r.interrupted() {
		if m.ours() {
			s.result.breaks("%v", err)
		} else {
			s.result.notes("not measured to the end: %v", err)
		}
	}
	return s.result
}

// onFresh starts the system on an empty directory, runs a workload, and clears all away.
func (c *rivalsCmd) onFresh(s *stand, workload string) (err error) {
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if s.system, err = s.mode.start(s.ctx, s.dir); err != nil {
		return err
	}
	defer s.system.stop()
	if s.empty, err = diskOf(s.system.data()); err != nil {
		return err
	}
	switch workload {
	case "registration":
		return s.run(registration{c.PutFor, c.Clients, c.PutFor, c.Bulk})
	case "herd":
		return s.fire(firing{name: workload, count: c.Herd})
	default:
		return s.fire(c.firing())
	}
}

func (c *rivalsCmd) firing() firing {
	count := int(float64(c.Rate) * c.For.Seconds())
	return firing{"firing", count, time.Second / time.Duration(c.Rate), c.Armed}
}

// present returns the modes of those who were asked for and whose programs are there, and prints
// their versions.
func (c *rivalsCmd) present(r *report) ([]mode, error) {
	versions := map[string]func() (string, error){
		carillonRival: c.version, "river": postgresVersion, "asynq": redisVersion,
		"nats":    func() (string, error) { return "nats-server " + r.machine.Versions["nats-server"], nil },
		bareRival: func() (string, error) { return "sleeps, publishes, writes and syncs; the least that is possible", nil },
	}
	missing := map[string]bool{}
	for _, name := range c.Rivals {
		version, err := versions[name]()
		if err != nil {
			if name == carillonRival {
				return nil, err
			}
			missing[name] = true
			r.say("%s is left out: %v", name, err)
			continue
		}
		r.machine.Versions[name] = version
		fmt.Fprintf(r.out, "%-9s%s\n", name, version)
	}
	modes := slices.DeleteFunc(c.modes(), func(m mode) bool {
		return missing[m.rival] || !slices.Contains(c.Rivals, m.rival)
	})
	if len(modes) == 0 {
		return nil, errors.New("nobody is left to measure")
	}
	return modes, nil
}

// version returns what Carillon's server says of itself.
func (c *rivalsCmd) version() (string, error) {
	text, err := exec.Command(c.Binary, "version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w (make build builds it)", c.Binary, err)
	}
	return strings.Join(strings.Fields(string(text)), " "), nil
}

// What a job takes at most while it is pending, over all rivals, with room to spare.
const (
	memoryPerJob = 2000
	diskPerJob   = 2500
	reserveBytes = 2 << 30 // PostgreSQL's buffers, and the log of writes
)

// demand refuses sizes that the machine has no memory or disk for.
func (c *rivalsCmd) demand(r *report) error {
	jobs := float64(max(c.firing().count+c.Armed, c.Herd, c.Bulk))
	have := kilobytes(measure.Field("/proc/meminfo", "MemAvailable"))
	if need := jobs*memoryPerJob + reserveBytes; have > 0 && need > have {
		return fmt.Errorf("%.0f jobs need about %.1f GB of memory, %.1f GB are available; want fewer jobs", jobs, need/1e9, have/1e9)
	}
	have = measure.FreeDisk(r.dir)
	if need := jobs*diskPerJob + reserveBytes; have > 0 && need > have {
		return fmt.Errorf("%.0f jobs need about %.1f GB of disk, %.1f GB are free; want fewer jobs, or --dir elsewhere", jobs, need/1e9, have/1e9)
	}
	return nil
}
