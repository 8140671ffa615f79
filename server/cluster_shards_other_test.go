package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestShardRefusesJobsOfOthers: a put at the subject of a shard that does not have the name is refused and says which one
// has it, alone and in bulk, so that no name exists twice.
func TestShardRefusesJobsOfOthers(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	p.startShards("a", t.TempDir())
	name := nameIn(2)
	job := fmt.Sprintf(`{"name":%q,"schedule":"@every 1h","target":{"kind":"nats","subject":"out.x"}}`, name)
	for shard := range troupeShards {
		m, err := p.nc.Request(fmt.Sprintf("carillon.shard.%d.v1.default.calendars.put", shard), []byte(`{"name":"c","exclude":[]}`), testkit.Patience)
		if err != nil || !strings.Contains(string(m.Data), "a calendar is in all shards") {
			t.Errorf("a calendar at shard %d is answered with %s, %v", shard, m.Data, err)
		}
		for verb, body := range map[string]string{"jobs.put": job, "jobs.put_many": `{"jobs":[` + job + `]}`} {
			m, err := p.nc.Request(fmt.Sprintf("carillon.shard.%d.v1.default.%s", shard, verb), []byte(body), testkit.Patience)
			if err != nil {
				t.Fatal(err)
			}
			refused := strings.Contains(string(m.Data), "it belongs to shard 2 of 4, and this is shard")
			if refused != (shard != 2) {
				t.Errorf("%s at shard %d is answered with %s", verb, shard, m.Data)
			}
		}
	}
	if page, err := p.client(false).Get(t.Context(), name); err != nil || page.Name != name {
		t.Errorf("the job is %+v, %v", page, err)
	}
}
