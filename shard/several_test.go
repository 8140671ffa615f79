package shard_test

import (
	"net/http"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/testkit"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestTwoShardsInOneProcess: each shard has its own jobs, ids, log and status, its runs leave through the sender that
// both share, and the id of a run says which of the two has it. When one ends, the other fires on.
func TestTwoShardsInOneProcess(t *testing.T) {
	for name, inCluster := range map[string]bool{"alone": false, "in a cluster": true} {
		t.Run(name, func(t *testing.T) {
			p := openProcess(t, inCluster)
			came := make(chan *nats.Msg, 10_000)
			if _, err := p.nc.ChanSubscribe("out.*", came); err != nil {
				t.Fatal(err)
			}
			owner := make(map[string]int)
			for n, list := range names() {
				for _, name := range list {
					owner[name] = n
					p.register(name, n)
				}
			}
			p.findRuns(came, owner)
			p.eachHasItsOwn()
			if inCluster {
				p.eachHasItsStream()
			}
			p.oneFiresOn(came, owner)
		})
	}
}

func (p *process) register(name string, owner int) {
	p.t.Helper()
	var reply struct{ Job client.JobInfo }
	body := `{"schedule":"@every 100ms","target":{"kind":"nats","subject":"out.` + name + `"}}`
	if code := p.send("PUT", "jobs/"+name, body, &reply); code != http.StatusCreated {
		p.t.Fatalf("%s: %d", name, code)
	}
	id, err := job.ParseID(reply.Job.ID)
	if err != nil || shardOf(id.Slot()) != owner {
		p.t.Errorf("%s has the id %s of shard %d, want %d; %v", name, reply.Job.ID, shardOf(id.Slot()), owner, err)
	}
}

// findRuns waits until each job has fired, and asks for that run in each way.
func (p *process) findRuns(came <-chan *nats.Msg, owner map[string]int) {
	t := p.t
	t.Helper()
	seen := make(map[string]bool)
	testkit.Until(t, "each job fires", func() bool {
		m := <-came
		name, id := m.Header.Get("Carillon-Job"), m.Header.Get("Carillon-Run-Id")
		if seen[name] {
			return len(seen) == len(owner)
		}
		var reply runReply
		testkit.Until(t, "the run is there", func() bool { return p.send("GET", "runs/"+id, "", &reply) == http.StatusOK })
		if reply.Run.RunID != id || reply.Run.Job != name {
			t.Errorf("run %s of %s is %+v over HTTP", id, name, reply.Run)
		}
		if run, found := p.runOver(owner[name], id); !found || run.Job != name {
			t.Errorf("shard %d does not know the run %s of %s: %+v", owner[name], id, name, run)
		}
		if run, found := p.runOver(1-owner[name], id); found {
			t.Errorf("shard %d knows the run %s of %s: %+v", 1-owner[name], id, name, run)
		}
		seen[name] = true
		return len(seen) == len(owner)
	})
}

func (p *process) eachHasItsOwn() {
	p.t.Helper()
	for n, s := range p.shards {
		if st := s.Status(); st.Shard != uint32(n) || s.Number() != uint32(n) || st.Jobs != 2 || st.Role != "leader" {
			p.t.Errorf("shard %d says it is %d, a %s with %d jobs", n, st.Shard, st.Role, st.Jobs)
		}
	}
}

func (p *process) eachHasItsStream() {
	p.t.Helper()
	js, err := jetstream.New(p.nc)
	if err != nil {
		p.t.Fatal(err)
	}
	for n := range p.shards {
		if _, err := js.Stream(p.t.Context(), replication.StreamName("carillon", uint32(n))); err != nil {
			p.t.Errorf("shard %d: %v", n, err)
		}
	}
}

// oneFiresOn closes shard 0, and waits until only the jobs of shard 1 fire.
func (p *process) oneFiresOn(came <-chan *nats.Msg, owner map[string]int) {
	p.t.Helper()
	if err := p.shards[0].Close(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	if err := p.nc.Flush(); err != nil {
		p.t.Fatal(err)
	}
	for len(came) > 0 {
		<-came
	}
	for range 20 {
		if name := (<-came).Header.Get("Carillon-Job"); owner[name] != 1 {
			p.t.Errorf("%s fires although its shard is closed", name)
		}
	}
}
