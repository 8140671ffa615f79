package bench

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// tell adds the figures of all phases.
func (f *floodRun) tell(r *result, receipts []receipt) {
	r.add("server_cpu_quiet_percent", "server CPU without the flood, of one core", percentOf(f.quiet.server, f.quiet.took), "%")
	r.add("server_cpu_percent", "server CPU in the flood, of one core", percentOf(f.flood.server, f.flood.took), "%")
	r.add("noise_cpu_percent", "CPU of the noise, of one core", percentOf(f.flood.noise, f.flood.took), "%")
	r.add("foreign_cpu_percent", "CPU of others, of one core", max(0, percentOf(f.flood.others, f.flood.took)), "%")
	r.add("noise_s", "time of the floods", f.flood.took.Seconds(), "s")
	r.count("noise_sent", "requests of noise", f.flood.sent)
	r.add("noise_answered_rate", "replies to the noise a second", float64(f.flood.answered)/f.flood.took.Seconds(), "/s")
	r.count("noise_answered", "requests of noise with a reply", f.flood.answered)
	r.count("noise_limited", "of them refused as too many", f.flood.limited)
	r.count("noise_losses", "connections that the noise lost", f.flood.losses)
	for _, one := range []floodFigure{
		{"put", "put", func(p *phase) samples { return p.puts }},
		{"get", "get", func(p *phase) samples { return p.got }},
		{"lateness", "lateness", func(p *phase) samples { return p.late(receipts) }},
		{"floor", "delay of a thread that only sleeps", func(p *phase) samples { return p.floor }},
	} {
		f.tellOne(r, one)
	}
}

// percentOf returns the share of one processor, in percent.
func percentOf(used, of time.Duration) float64 { return 100 * used.Seconds() / max(of.Seconds(), 1e-9) }

// floodFigure is something that is measured in each phase.
type floodFigure struct {
	key, label string
	of         func(*phase) samples
}

// all returns the samples of all phases of a sort, sorted.
func (s *floodSide) all(one floodFigure) (all samples) {
	for _, p := range s.phases {
		all = append(all, one.of(p)...)
	}
	slices.Sort(all)
	return all
}

// tellOne adds one figure of all rounds together, and how many times longer it is in the flood than without, beside the
// bound; and the same of the control.
func (f *floodRun) tellOne(r *result, one floodFigure) {
	quiet, control, flood := f.quiet.all(one), f.control.all(one), f.flood.all(one)
	r.count(one.key+"_samples", "samples of "+one.label+" in the flood", len(flood))
	for _, rank := range []struct {
		key string
		at  int
	}{{"p50", 50_000}, {"p99", 99_000}, {"max", 100_000}} {
		was, is := quiet.at(rank.at), flood.at(rank.at)
		r.add(one.key+"_quiet_"+rank.key+"_ms", one.label+" "+rank.key+", quiet", millis(was), "ms")
		if f.aside != "" {
			r.add(one.key+"_control_"+rank.key+"_ms", one.label+" "+rank.key+", with the noise at a second server", millis(control.at(rank.at)), "ms")
		}
		r.add(one.key+"_flood_"+rank.key+"_ms", one.label+" "+rank.key+", in the flood", millis(is), "ms")
		label := "that is"
		if rank.key == "p99" && one.key != "floor" {
			label = fmt.Sprintf("that is (bound: %d)", floodBound)
		}
		if was > 0 {
			r.add(one.key+"_ratio_"+rank.key, label, float64(is)/float64(was), "times")
		}
		if f.aside != "" && control.at(rank.at) > 0 {
			r.add(one.key+"_beside_control_"+rank.key, "and beside the noise at a second server", float64(is)/float64(control.at(rank.at)), "times")
		}
	}
	f.tellRounds(r, one)
}

// tellRounds adds the least, the median and the most of how many times longer the p99 of a round is in its flood.
func (f *floodRun) tellRounds(r *result, one floodFigure) {
	var ratios []float64
	for i, p := range f.flood.phases {
		was, is := one.of(f.quiet.phases[i]), one.of(p)
		slices.Sort(was)
		slices.Sort(is)
		if was := was.at(99_000); was > 0 {
			ratios = append(ratios, float64(is.at(99_000))/float64(was))
		}
	}
	if len(ratios) == 0 {
		return
	}
	for _, of := range []struct {
		key   string
		value float64
	}{{"min", slices.Min(ratios)}, {"median", median(ratios)}, {"max", slices.Max(ratios)}} {
		r.add(one.key+"_rounds_p99_"+of.key, one.label+" p99 of a round, "+of.key, of.value, "times")
	}
}

// tellMemory adds how much memory the floods added.
func tellMemory(r *result, before, most float64) {
	r.add("memory_before_mib", "memory before the flood", before/(1<<20), "MiB")
	r.add("memory_most_mib", "most memory in the flood", most/(1<<20), "MiB")
	r.add("memory_more_mib", fmt.Sprintf("that is (bound: %d)", floodMemoryBound>>20), (most-before)/(1<<20), "MiB more")
}

// tellBroken adds how many of its own connections to NATS the server lost: over one of them come the requests of all
// tenants, so each loss takes replies of the other tenant.
func tellBroken(srv *server, r *result) {
	text, _ := os.ReadFile(srv.dir + ".stderr") // it was written by this workload, and is small
	lost := strings.Count(string(text), "lost the connection to NATS")
	r.count("own_lost", "own connections that the server lost", lost)
	if lost > 0 {
		r.breaks("the server lost its own connection to NATS %d times", lost)
	}
}
