package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestStandbyReads: a node that stands by answers reads that are meant for it, says how far it is behind,
// and changes nothing.
func TestStandbyReads(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	c := p.client(true)
	if j, err := c.Get(t.Context(), "x"); err != nil || j.Name != "x" {
		t.Errorf("read from the standby: %+v, %v", j, err)
	}
	if _, err := c.Pause(t.Context(), "x", ""); !client.IsUnavailable(err) || !strings.Contains(err.Error(), "stands by") {
		t.Errorf("paused by the standby: %v", err)
	}
	testkit.Until(t, "a, which stood by before it led, leaves the standby's subjects", func() bool {
		m, err := p.nc.Request("carillon.standby.v1.default.jobs.get", []byte(`{"name":"x"}`), 5*time.Second)
		isLate := err == nil && m.Header.Get("Nats-Service-Error-Code") == "503"
		if !isLate && (err != nil || m.Header.Get("Carillon-Node") != "b" || m.Header.Get("Carillon-Lag") == "") {
			t.Errorf("the standby's reply: %v, %v", m, err)
		}
		return !isLate
	})
	if reply, err := http.Get(b.Ready().HTTP + "/readyz"); err != nil || reply.StatusCode != 200 {
		t.Errorf("the standby is not ready: %v, %v", reply, err)
	}
}
