package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/bench/kit"
)

// options are what the command line says.
type options struct {
	binary   string
	topology string
	shards   int
	nodes    int // that can lead
	network  string
	// a larger one measures a slow takeover in full, and prolongs a round in which none comes
	patience  time.Duration
	bounds    []bound
	overrides []string // of bounds, as they were given
	// judgeAll counts bounds as missed that are known to be.
	judgeAll bool
	plan     []scenario // in order; rounds go round it
	rounds   int        // 0: once through the plan
	clients  int
	// seed decides what is broken and when, the load, and which packets a slow network loses.
	seed   uint64
	keep   bool
	temp   string
	output string
}

// The topologies.
const (
	embedded = "embedded"
	outside  = "outside"
	guarded  = "guarded" // embedded, with rights, and TLS on all listeners
)

// shortPlan names the scenarios that a run of a few minutes goes through. It differs between the topologies: each
// has the scenarios that only it can have.
const shortPlan = "short"

// Bounds of the command line. The limits refuse what is surely mistyped.
const (
	roundsMax   = 1000
	clientsMax  = 64
	shardsMax   = 16 // each has a client of its own
	nodesMin    = 2
	patienceMin = time.Second
	patienceMax = 10 * time.Minute
)

// parse reads the command line, draws a seed if it has none, and fills in the plan. Bounds and scenarios are
// checked here, before anything is started.
func parse(args []string, usage io.Writer) (options, error) {
	var o options
	var names string
	flags := flag.NewFlagSet("failover", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&o.binary, "binary", "bin/carillon", "program of the nodes")
	flags.StringVar(&o.topology, "topology", embedded, "where NATS is: embedded, outside, or guarded, which is embedded with rights and TLS on all listeners")
	flags.IntVar(&o.shards, "shards", 1, "shards of the cluster, a power of two; with several, those scenarios alone that the list marks with S")
	flags.IntVar(&o.nodes, "nodes", nodesMin, "nodes that can lead: 2, beside which an embedded cluster has a witness, or 3, which need several shards; then those scenarios alone that the list marks with N")
	flags.StringVar(&o.network, "network", anyNetwork, "what joins the processes: "+namespaces+" (root on Linux), "+proxies+" (loopback), or "+anyNetwork+", the first that can be had")
	flags.StringVar(&names, "scenario", shortPlan, "what to break: names with commas between; all that the topology allows; or short, those with a star:\n"+listScenarios())
	flags.DurationVar(&o.patience, "patience", 30*time.Second, "how long the cluster may not serve before a fault is healed all the same")
	flags.Func("bound", "what a scenario may cost, as SCENARIO/FIGURE=MOST, such as kill9-leader/first-launch=2s; MOST none lifts a bound; may be repeated", o.addBound)
	flags.BoolVar(&o.judgeAll, "judge-all", false, "judge those bounds too that are known to be missed")
	flags.IntVar(&o.rounds, "rounds", 0, "how many rounds, going round the scenarios; 0 is once through them")
	flags.IntVar(&o.clients, "clients", 4, "how many clients load the cluster")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of the load and of the faults; 0 is a random one")
	flags.BoolVar(&o.keep, "keep", false, "keep the data directories in any case")
	flags.StringVar(&o.temp, "temp", "", "directory for the data; default the system's")
	flags.StringVar(&o.output, "o", "table", "form of the report: table or json")
	if err := kit.Parse(flags, args, &o.seed); err != nil {
		return o, err
	}
	if err := o.validate(); err != nil {
		return o, err
	}
	var err error
	if o.bounds, err = boundsWith(o.overrides); err != nil {
		return o, err
	}
	o.plan, err = planOf(names, &o)
	// It depends on the plan, so it comes last.
	if o.rounds == 0 {
		o.rounds = len(o.plan)
	}
	return o, err
}

// validate checks each value by itself, and makes the path of the binary absolute, because processes are started in
// other directories.
func (o *options) validate() error {
	path, err := kit.Binary(o.binary)
	switch {
	case err != nil:
		return err
	case o.topology != embedded && o.topology != outside && o.topology != guarded:
		return fmt.Errorf("--topology is %q; want %s, %s or %s", o.topology, embedded, outside, guarded)
	case o.shards < 1 || o.shards > shardsMax || o.shards&(o.shards-1) != 0:
		return fmt.Errorf("--shards is %d; want a power of two from 1 to %d", o.shards, shardsMax)
	case o.nodes < nodesMin || o.nodes > members:
		return fmt.Errorf("--nodes is %d; want %d or %d", o.nodes, nodesMin, members)
	case o.nodes > nodesMin && o.shards == 1:
		return fmt.Errorf("--nodes is %d; with one shard want %d", o.nodes, nodesMin)
	case o.network != namespaces && o.network != proxies && o.network != anyNetwork:
		return fmt.Errorf("--network is %q; want %s, %s or %s", o.network, namespaces, proxies, anyNetwork)
	case o.patience < patienceMin || o.patience > patienceMax:
		return fmt.Errorf("--patience is %s; want %s to %s", o.patience, patienceMin, patienceMax)
	case o.rounds < 0 || o.rounds > roundsMax:
		return fmt.Errorf("--rounds is %d; want 0 to %d", o.rounds, roundsMax)
	case o.clients < 1 || o.clients > clientsMax:
		return fmt.Errorf("--clients is %d; want 1 to %d", o.clients, clientsMax)
	case o.output != "table" && o.output != "json":
		return fmt.Errorf("-o is %q; want table or json", o.output)
	}
	o.binary = path
	return nil
}

// planOf reads a list of scenarios. A scenario that is named and does not fit the topology, the number of shards or that of
// nodes is an error, while all and short leave it out.
func planOf(names string, o *options) ([]scenario, error) {
	var plan []scenario
	if names == "all" || names == shortPlan {
		for _, s := range scenarios {
			if s.unfit(o) == "" && (names == "all" || s.isShort(o.topology, o.shards)) {
				plan = append(plan, s)
			}
		}
		if len(plan) == 0 {
			return nil, fmt.Errorf("--scenario: %s is nothing for the topology %s with %d shards on %d nodes", names, o.topology, o.shards, o.nodes)
		}
		return plan, nil
	}
	for _, name := range strings.Split(names, ",") {
		// A scenario may be named twice; it is then struck twice in each turn through the plan.
		at := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
		if at < 0 {
			return nil, fmt.Errorf("--scenario: %q is unknown; want short, all, or some of\n%s", name, listScenarios())
		}
		if unfit := scenarios[at].unfit(o); unfit != "" {
			return nil, fmt.Errorf("--scenario: %s is not for %s", name, unfit)
		}
		plan = append(plan, scenarios[at])
	}
	return plan, nil
}

// command returns the command line that repeats a run. The same seed gives the same load and the same
// faults; what the machine makes of them differs from run to run.
func (o *options) command() string {
	names := make([]string, len(o.plan))
	for i, s := range o.plan {
		names[i] = s.name
	}
	line := fmt.Sprintf("go run ./bench/failover --binary %s --topology %s --network %s --scenario %s --rounds %d --clients %d --patience %s --seed %d",
		o.binary, o.topology, o.network, strings.Join(names, ","), o.rounds, o.clients, o.patience, o.seed)
	if o.shards > 1 {
		line += fmt.Sprintf(" --shards %d --nodes %d", o.shards, o.nodes)
	}
	for _, b := range o.overrides {
		line += " --bound " + b
	}
	if o.judgeAll {
		line += " --judge-all"
	}
	return line
}
