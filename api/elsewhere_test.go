package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// TestWrongShardIsNamed: a request with the number of a shard, for a job or a run of another one, is told which. A name that
// would be in this shard is just not there.
func TestWrongShardIsNamed(t *testing.T) {
	c := startShards(t, 4, Options{}, 0)
	ask := func(shard int, verb, body string) string {
		m, err := c.nc.Request(fmt.Sprintf("carillon.shard.%d.v1.default.%s", shard, verb), []byte(body), 20*time.Second)
		if err != nil {
			t.Fatal(verb, err)
		}
		return string(m.Data)
	}
	const advice = "it would belong to shard 2 of 4, and this is shard 1; ask any node without the number of a shard"
	there, here := nameIn(2, 4, 0), nameIn(1, 4, 0)
	run := job.RunID{Job: job.ID(uint64(7)<<8 | uint64(job.SlotOf("default", there))), At: 1000}.String()
	for verb, body := range map[string]string{
		"jobs.get": `{"name":%q}`, "jobs.delete": `{"name":%q}`, "jobs.trigger": `{"name":%q}`, "runs.list": `{"job":%q}`,
		"jobs.pause": `{"name":%q}`, "runs.get": `{"run_id":%q}`, "runs.retry": `{"run_id":%q}`,
	} {
		name := there
		if strings.Contains(body, "run_id") {
			name = run
		}
		if reply := ask(1, verb, fmt.Sprintf(body, name)); !strings.Contains(reply, `"not_found"`) || !strings.Contains(reply, advice) {
			t.Errorf("%s of another shard: %s", verb, reply)
		}
		if strings.Contains(body, "run_id") {
			continue
		}
		if reply := ask(1, verb, fmt.Sprintf(body, here)); !strings.Contains(reply, `"not_found"`) || strings.Contains(reply, "shard") {
			t.Errorf("%s of this shard: %s", verb, reply)
		}
	}
}
