package bench

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/carillon-io/carillon/bench/measure"
)

// memories returns the resident bytes of each node.
func (t *takeover) memories() (list []float64) {
	for _, m := range t.nodes {
		resident, _ := m.memory()
		list = append(list, resident)
	}
	return list
}

// heapFigures are the parts of a node's memory that its metrics tell. The heap of the runtime has nearly all of it: the tables
// of jobs and the store's rows that are not on disk yet; blocks of the store that are kept are outside of it.
var heapFigures = []struct{ key, label, metric string }{
	{"heap_alloc", "heap, allocated", "go_memstats_heap_alloc_bytes"},
	{"heap_inuse", "heap, arenas in use", "go_memstats_heap_inuse_bytes"},
	{"heap_idle", "heap, arenas idle", "go_memstats_heap_idle_bytes"},
	{"store_cache", "blocks of the store that are kept", "carillon_store_cache_bytes"},
	{"memtables", "rows that are not in the store's files", "carillon_store_memtable_bytes"},
}

// weigh adds the memory of each node and the disk of all, by jobs. empty is the memory of the nodes before the load.
func (t *takeover) weigh(s *stand, r *result, empty []float64) error {
	const mib = 1 << 20
	st, err := statusOf(s, t.client)
	if err != nil {
		return err
	}
	for i, m := range t.nodes {
		name, held := t.names[i], float64(heldBy(rowsOf(&st), t.names[i]))
		resident, anonymous := m.memory()
		r.count("node_"+name+"_jobs", "node "+name+": jobs that it holds", int(held))
		r.add("node_"+name+"_rss_mib", "node "+name+": resident memory, idle", resident/mib, "MiB")
		r.add("node_"+name+"_rss_bytes_per_job", "node "+name+": resident bytes a job, over an empty node", (resident-empty[i])/held, "B")
		r.add("node_"+name+"_anonymous_bytes_per_job", "node "+name+": of it, not backed by a file", anonymous/held, "B")
		t.perJob += (resident - empty[i]) / held / float64(len(t.nodes))
		figures, err := m.scrape()
		if err != nil {
			return err
		}
		for _, f := range heapFigures {
			r.add("node_"+name+"_"+f.key+"_bytes_per_job", "node "+name+": "+f.label+", a job", figures[f.metric]/held, "B")
		}
	}
	return t.weighDisk(r, "disk", "on disk, nodes and NATS servers together, a job")
}

// weighDisk adds the bytes of all directories.
func (t *takeover) weighDisk(r *result, key, label string) error {
	var sum float64
	for _, m := range slices.Concat(t.nodes, t.brokers) {
		disk, err := m.disk()
		if err != nil {
			return fmt.Errorf("measure the data directory: %w", err)
		}
		sum += disk
	}
	r.add(key+"_bytes_per_job", label, sum/float64(t.count), "B")
	r.add(key+"_mib", "all of it", sum/(1<<20), "MiB")
	return nil
}

// tellPeaks adds the most memory that the processes have had; that of a node that was started again counts from then on.
func (t *takeover) tellPeaks(r *result) error {
	var nodes, brokers float64
	for _, m := range t.nodes {
		nodes += peakOf(m)
	}
	for _, m := range t.brokers {
		brokers += peakOf(m)
	}
	r.add("peak_nodes_mib", "most resident memory of the nodes, added up", nodes/(1<<20), "MiB")
	r.add("peak_nats_mib", "most resident memory of the NATS servers, added up", brokers/(1<<20), "MiB")
	return t.weighDisk(r, "end_disk", "on disk at the end, a job")
}

// peakOf returns the most resident bytes that a process has had.
func peakOf(m *member) float64 {
	return kilobytes(measure.Field("/proc/"+strconv.Itoa(m.cmd.Process.Pid)+"/status", "VmHWM"))
}
