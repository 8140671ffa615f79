package api

import (
	"flag"
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// outside makes TestBadInput speak to a server that runs already, with its default options.
var outside = flag.String("nats", "", "NATS URL of a running server for TestBadInput; default: one of its own")

// TestBadInput sends what must be refused. Each refusal names the code, the field and the status, has a
// text, and changes nothing.
func TestBadInput(t *testing.T) {
	url := *outside
	if url == "" {
		_, url = startService(t, apitest.StartEngine(t), Options{}, 4<<20)
	}
	testBadInput(t, url, "carillon")
}

func testBadInput(t *testing.T, url, prefix string) {
	nc := apitest.Connect(t, url)
	w := apitest.BadWorld{Conn: nc, Client: apitest.NewClient(t, url, client.Options{Prefix: prefix}), Prefix: prefix}
	w.Prepare(t)
	before := w.State(t)
	cases := apitest.BadRequests()
	if len(cases) < 70 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, bad := range cases {
		t.Run(bad.Name, func(t *testing.T) {
			w.Refused(t, bad)
			if now := w.State(t); now != before {
				t.Errorf("something changed:\nbefore %s\nnow    %s", before, now)
			}
		})
	}
}
