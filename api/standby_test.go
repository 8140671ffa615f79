package api

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// TestStandbyThatWasNeverLevel: a standby of the only shard reads nothing for callers until it knows by how much its copy lags. What
// the status says of the node it says meanwhile.
func TestStandbyThatWasNeverLevel(t *testing.T) {
	isWhole := false
	_, url := startService(t, apitest.StartEngine(t), Options{Standby: true, Whole: func() bool { return isWhole }}, 0)
	nc := apitest.Connect(t, url)
	for _, isWhole = range []bool{false, true} {
		for _, verb := range []string{"jobs.list", "calendars.list", "audit.list", "status", "whoami"} {
			m, err := nc.Request("carillon.standby.v1.default."+verb, []byte(`{}`), 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if !isWhole && verb != "status" && verb != "whoami" {
				want = string(client.CodeUnavailable)
			}
			got := ""
			if e := refusalIn(t, string(m.Data)); e != nil {
				got = string(e.Code)
			}
			if got != want {
				t.Errorf("%s while the copy is whole: %t: %q, want %q: %s", verb, isWhole, got, want, m.Data)
			}
		}
	}
}
