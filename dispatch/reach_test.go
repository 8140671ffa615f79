package dispatch

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// openTo returns a reach with single openings.
func openTo(t *testing.T, openings ...string) job.Reach {
	t.Helper()
	var r job.Reach
	for _, text := range openings {
		if err := r.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestReachOfTenants has real servers on loopback. A tenant reaches the one that is opened to it, and another tenant
// does not, not even over the connection that the first one left open.
func TestReachOfTenants(t *testing.T) {
	open := serve(t, func(http.ResponseWriter, *http.Request) {})
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a server that is not opened was reached") })
	own := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("our own address was dialled") })
	port := func(url string) string { return url[strings.LastIndexByte(url, ':'):] }
	resolveAll(t, [4]byte{127, 0, 0, 1})
	billing := openTo(t, "127.0.0.0/8"+port(open), "127.0.0.0/8"+port(own), "169.254.0.0/16:80")
	d := start(t, Options{
		Own: []netip.AddrPort{netip.MustParseAddrPort(strings.TrimPrefix(own, "http://"))},
		Targets: func(tenant string) job.Targets {
			if tenant == "billing" {
				return job.Targets{Reach: billing}
			}
			return job.Targets{}
		},
	}, "")
	for _, c := range []struct{ tenant, url, want string }{
		{"billing", open, ""},
		{"billing", "http://rebind.example.com" + port(open), ""},
		{"crm", open, "127.0.0.0/8"},
		{"crm", "http://rebind.example.com" + port(open), "127.0.0.0/8"},
		{"billing", "http://rebind.example.com" + port(other), "127.0.0.0/8"},
		{"billing", other, "127.0.0.0/8"},
		{"billing", own, "is an address of this server itself"},
		{"billing", "http://169.254.169.254/", "169.254.169.254/32"},
		{"billing", "http://metadata.google.internal/", "169.254.169.254/32"},
		{"billing", "http://[fd00:ec2::254]/", "fd00:ec2::254/128"},
	} {
		del := deliveryTo(httpTarget(c.url), 0)
		del.Tenant = c.tenant
		o := testkit.Receive(t, launch(d, del))
		if c.want == "" && o.Error != "" || c.want != "" && (!strings.Contains(o.Error, c.want) || !o.Refused) {
			t.Errorf("%s to %s: outcome is %+v; want %q", c.tenant, c.url, o, c.want)
		}
	}
}
