package job

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// TestOpenings: a network is opened at its port and nowhere else, and what is always closed stays so.
func TestOpenings(t *testing.T) {
	var reach Reach
	for _, text := range []string{"10.2.0.0/16:443", "[fd00:1::/64]:8443", "127.0.0.1/32:9000", "169.254.0.0/16:80", "0.0.0.0/0:7000", "[fd00::/8]:80"} {
		o, err := ParseOpening(text)
		if err != nil || o.String() != text || reach.Add(text) != nil {
			t.Fatalf("%s: %s, %v", text, o, err)
		}
	}
	for at, want := range map[string]bool{
		"10.2.3.4:443": true, "10.2.3.4:80": false, "10.3.0.1:443": false, "[::ffff:10.2.3.4]:443": true, "[fd00:1::9]:8443": true, "[fd00:1:0:1::9]:8443": false,
		"127.0.0.1:9000": true, "127.0.0.2:9000": false, "8.8.8.8:1": true,
		"169.254.1.1:80": true, "169.254.169.254:80": false, "[::ffff:169.254.169.254]:80": false, "169.254.170.2:80": false, "100.100.100.200:7000": false,
		"0.0.0.0:7000": false, "224.0.0.1:7000": false, "[fd00:ec2::254]:80": false, "[fd00:ec2::253]:80": true, "[fd00:ec2::23]:80": false,
	} {
		if n, isClosed := ClosedTo(netip.MustParseAddrPort(at), reach); isClosed == want {
			t.Errorf("%s: closed %t by %s", at, isClosed, n)
		}
	}
	for _, at := range []string{"10.2.3.4:443", "127.0.0.1:9000"} {
		if _, isClosed := ClosedTo(netip.MustParseAddrPort(at), Reach{}); !isClosed {
			t.Errorf("%s is open without an opening", at)
		}
	}
}

// TestParseOpeningRefuses what could be meant in several ways.
func TestParseOpeningRefuses(t *testing.T) {
	for _, text := range []string{
		"", "10.2.0.0/16", "10.2.3.4/16:443", "10.2.0.0:443", "10.2.0.0/16:0", "10.2.0.0/16:65536", "10.2.0.0/16:https", "10.2.0.0/16:+1", "10.2.0.0/33:1",
		"fd00::/8:443", "[10.2.0.0/16]:443", "[fd00::/8]443", "[::ffff:10.0.0.0/104]:1", "[fd00::1/8]:443", "[fe80::%eth0/64]:1", "*:443", "10.2.0.0/16:443 ",
	} {
		if o, err := ParseOpening(text); err == nil || !strings.Contains(err.Error(), "want one such as") {
			t.Errorf("%q: %v, %v", text, o, err)
		}
	}
}

// TestReachIsOfTheTenant: a put is checked with what its own tenant may reach, at the port of the URL.
func TestReachIsOfTheTenant(t *testing.T) {
	var reach Reach
	if err := reach.Add("10.2.0.0/16:443"); err != nil {
		t.Fatal(err)
	}
	rules := Rules{Targets: func(tenant string) Targets {
		if tenant == "billing" {
			return Targets{Reach: reach}
		}
		return Targets{}
	}}
	for _, c := range []struct {
		tenant, url string
		want        bool
	}{
		{"billing", "https://10.2.0.1/x", true}, {"billing", "https://10.2.0.1:443/x", true}, {"billing", "http://10.2.0.1/x", false},
		{"billing", "https://10.2.0.1:8443/x", false}, {"billing", "https://10.3.0.1/x", false}, {"crm", "https://10.2.0.1/x", false},
		{"crm", "https://example.com/x", true},
	} {
		d := Defaults()
		d.Tenant, d.Name, d.Schedule, d.Target = c.tenant, "a", "@every 1s", Target{Kind: TargetHTTP, URL: c.url, Method: "POST"}
		if err := d.Validate(rules); (err == nil) != c.want {
			t.Errorf("%s of %s: %v", c.url, c.tenant, err)
		}
	}
	if err := CheckURL(&url.URL{Scheme: "http", Host: "10.9.9.9"}, (Rules{AllowPrivateTargets: true, Targets: rules.Targets}).TargetsOf("crm")); err != nil {
		t.Errorf("with every private target allowed: %v", err)
	}
}
