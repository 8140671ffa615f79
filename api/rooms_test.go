package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/testkit"
)

// TestNoRoom uses up what pages may take. They are refused, and all that is small goes on.
func TestNoRoom(t *testing.T) {
	s, url := startService(t, apitest.StartEngine(t), Options{}, 0)
	nc := apitest.Connect(t, url)
	var holds []*hold
	const parties = 4
	for i := range parties {
		h := mustTake(t, s.executor.rooms.large, party{tenant: fmt.Sprint(i)}, largeBytes/parties)
		h.settle(largeBytes / parties)
		holds = append(holds, h)
	}
	for _, c := range []struct{ what, verb, body, want string }{
		{"a list", "jobs.list", "", `"code":"rate_limited"`},
		{"a change", "jobs.put", apitest.JobWith("name", `"a"`), `"created":true`},
		{"a job", "jobs.get", `{"name":"a"}`, `"name":"a"`},
	} {
		if got := string(apitest.Ask(t, nc, "carillon.v1.default."+c.verb, c.body, nil)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s; want %s", c.what, got, c.want)
		}
	}
	// A reply leaves before its room is given back.
	testkit.Until(t, "nothing but the pages has room", func() bool { return s.Executor().Counts().ReplyBytes == largeBytes })
	for _, h := range holds {
		h.give()
	}
	if got := string(apitest.Ask(t, nc, "carillon.v1.default.jobs.list", "", nil)); !strings.Contains(got, `"jobs":[`) {
		t.Errorf("a list after that: %s", got)
	}
}
