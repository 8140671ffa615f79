package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
)

// TestOutsidersAreToldSo: only cluster admins may ask for backups, hand-overs and changes of places. Another caller is told so, and
// does not wait for a leader until its time is over.
func TestOutsidersAreToldSo(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	for _, who := range []struct{ principal, user, tenant string }{
		{"reader", "stock", "stock"}, {"many", "billing", "billing"}, {"many", "billing", ""}, {"billing-admin", "", "billing"}, {"billing-admin", "", ""},
		{"default-operator", "", ""},
	} {
		c := clienttest.New(t, e.as(who.principal, nats.UserInfo(who.user, "")), client.Options{Tenant: who.tenant, Timeout: time.Hour})
		for what, ask := range map[string]func() error{
			"a backup":           func() error { _, err := c.OpenBackup(t.Context(), 0); return err },
			"a hand-over":        func() error { _, err := c.Handover(t.Context(), 0, ""); return err },
			"a change of places": func() error { _, err := c.Place(t.Context(), client.PlaceRequest{}); return err },
		} {
			if err := ask(); !client.IsForbidden(err) || !strings.Contains(err.Error(), "asks for "+what+", which is for cluster admins") {
				t.Errorf("%s of %q asks for %s: %v", who.principal, who.tenant, what, err)
			}
		}
	}
	b, err := e.of("", "cluster").OpenBackup(t.Context(), 0)
	if err != nil {
		t.Fatal("a cluster admin:", err)
	}
	b.Close()
}
