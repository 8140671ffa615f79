package dispatch

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestGuardRefuses has addresses as they are dialled; want is a part of the refusal, with and without private
// targets allowed, and "" where the guard lets them pass.
func TestGuardRefuses(t *testing.T) {
	tests := []struct{ address, closed, allowed string }{
		{"8.8.8.8:443", "", ""},
		{"[2606:4700::1111]:443", "", ""},
		{"127.0.0.1:80", "127.0.0.0/8", ""},
		{"[::1]:80", "::1/128", ""},
		{"[::ffff:10.1.2.3]:80", "10.0.0.0/8", ""},
		{"[fe80::1%eth0]:80", "fe80::/10", ""},
		{"[64:ff9b::7f00:1]:80", "64:ff9b::/96", ""},
		{"[64:ff9b:1::7f00:1]:80", "64:ff9b:1::/48", ""},
		{"[fec0::1]:80", "fec0::/10", ""},
		{"192.0.0.8:80", "192.0.0.0/24", ""},
		{"198.18.0.1:80", "198.18.0.0/15", ""},
		{"240.0.0.1:80", "240.0.0.0/4", ""},
		{"[2002:7f00:1::]:80", "2002::/16", "2002::/16"},
		{"[2001::1]:80", "2001::/32", "2001::/32"},
		{"[::7f00:1]:80", "::/96", "::/96"},
		{"255.255.255.255:80", "255.255.255.255/32", "255.255.255.255/32"},
		{"168.63.129.16:80", "168.63.129.16/32", "168.63.129.16/32"},
		{"169.254.169.254:80", "169.254.169.254/32", "169.254.169.254/32"},
		{"[64:ff9b::a9fe:a9fe]:80", "64:ff9b::/96", "169.254.169.254/32"},
		{"0.0.0.0:80", "0.0.0.0/8", "0.0.0.0/8"},
		{"[::]:80", "::/128", "::/128"},
	}
	for _, tc := range tests {
		for _, allowed := range []bool{false, true} {
			want := tc.closed
			if allowed {
				want = tc.allowed
			}
			err := newGuard(Options{}, job.Reach{All: allowed}).control(t.Context(), "tcp", tc.address, nil)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, private targets allowed %t: %v; want %q", tc.address, allowed, err, want)
			}
		}
	}
}

// TestGuardKnowsItself has listeners on one address and on all, and says which addresses lead to them.
func TestGuardKnowsItself(t *testing.T) {
	const port = 7272
	interfaces := func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.IPv4(192, 0, 2, 5), Mask: net.CIDRMask(24, 32)}, &net.IPNet{IP: net.ParseIP("2001:db8::5"), Mask: net.CIDRMask(64, 128)}}, nil
	}
	tests := []struct {
		own, at string
		want    bool
	}{
		{"127.0.0.1:7272", "127.0.0.1:7272", true},
		{"127.0.0.1:7272", "[::ffff:127.0.0.1]:7272", true},
		{"127.0.0.1:7272", "127.0.0.1:7273", false},
		{"127.0.0.1:7272", "127.0.0.2:7272", false},
		{"[fe80::1%eth0]:7272", "[fe80::1%eth1]:7272", true},
		{"0.0.0.0:7272", "127.0.0.2:7272", true},
		{"0.0.0.0:7272", "192.0.2.5:7272", true},
		{"0.0.0.0:7272", "192.0.2.6:7272", false},
		{"0.0.0.0:7272", "[::1]:7272", false},
		{"[::]:7272", "192.0.2.5:7272", true},
		{"[::]:7272", "[2001:db8::5]:7272", true},
		{"[::]:7272", "[::1]:7272", true},
		{"[::]:7272", "[2001:db8::6]:7272", false},
		{"[::]:7272", "[2001:db8::5]:80", false},
	}
	for _, tc := range tests {
		g := newGuard(Options{Own: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.9:1"), netip.MustParseAddrPort(tc.own)}}, job.Reach{})
		g.interfaces = interfaces
		if got := g.isOwn(netip.MustParseAddrPort(tc.at)); got != tc.want {
			t.Errorf("a listener on %s and a target at %s: %t; want %t", tc.own, tc.at, got, tc.want)
		}
	}
	g := newGuard(Options{Own: []netip.AddrPort{netip.AddrPortFrom(netip.IPv6Unspecified(), port)}}, job.Reach{})
	g.interfaces = func() ([]net.Addr, error) { return nil, errors.New("the system does not say") }
	if !g.isOwn(netip.MustParseAddrPort("8.8.8.8:7272")) {
		t.Error("an address that may be ours is not refused")
	}
}

// TestHTTPOwnListener has a real server that counts as ours. No name leads to it, while its neighbour is reached.
func TestHTTPOwnListener(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("our own address was dialled") })
	neighbour := serve(t, func(http.ResponseWriter, *http.Request) {})
	at := netip.MustParseAddrPort(strings.TrimPrefix(url, "http://"))
	_, port, _ := net.SplitHostPort(at.String())
	resolveAll(t, [4]byte{127, 0, 0, 1})
	d := start(t, Options{AllowPrivateTargets: true, Own: []netip.AddrPort{at}}, "")
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "rebind.example.com"} {
		o := testkit.Receive(t, launch(d, deliveryTo(httpTarget("http://"+host+":"+port), 0)))
		if !strings.Contains(o.Error, "is an address of this server itself") || !o.Refused {
			t.Errorf("%s: outcome is %+v", host, o)
		}
	}
	if o := testkit.Receive(t, launch(d, deliveryTo(httpTarget(neighbour), 0))); o.Error != "" {
		t.Errorf("the neighbour is not reached: %s", o.Error)
	}
}

// TestHTTPClosedAddresses has definitions of before, whose URLs are launched as they are.
func TestHTTPClosedAddresses(t *testing.T) {
	d := start(t, Options{}, "")
	for url, want := range map[string]string{
		"http://[64:ff9b::7f00:1]/": "64:ff9b::/96", "http://192.0.0.1/": "192.0.0.0/24", "http://168.63.129.16/": "168.63.129.16/32",
		"http://example.com:0/": "target.url: has the port 0; want 1 to 65535", "http://example.com:65536/": "target.url: has the port 65536; want 1 to 65535",
	} {
		if o := testkit.Receive(t, launch(d, deliveryTo(httpTarget(url), 0))); !strings.Contains(o.Error, want) || !o.Refused {
			t.Errorf("%s: outcome is %+v; want %q", url, o, want)
		}
	}
}

// TestHTTPPassesProxiesOver keeps the environment from choosing what is dialled.
func TestHTTPPassesProxiesOver(t *testing.T) {
	if newTransports(Options{}.withDefaults()).common.Proxy != nil {
		t.Error("a proxy of the environment would be used, and dial what it likes")
	}
}
