package job

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// TestClosedNetworks has an address for each row of the table, at one of its borders, and what the row says of it.
func TestClosedNetworks(t *testing.T) {
	cases := map[string]struct {
		name   string
		always bool
	}{
		"0.0.0.0": {"this network", true}, "0.255.255.255": {"this network", true},
		"10.0.0.0": {"private use", false}, "10.255.255.255": {"private use", false},
		"100.64.0.1": {"shared by carriers", false}, "100.127.255.255": {"shared by carriers", false},
		"100.100.100.200": {"metadata of a cloud", true},
		"127.0.0.1":       {"loopback", false}, "127.255.255.254": {"loopback", false},
		"169.254.1.1": {"link-local", false}, "169.254.169.254": {"metadata of a cloud", true},
		"169.254.170.2": {"credentials of a container", true}, "169.254.170.23": {"credentials of a container", true},
		"169.254.0.23": {"metadata of a cloud", true}, "169.254.42.42": {"metadata of a cloud", true},
		"168.63.129.16": {"platform of a cloud", true},
		"172.16.0.0":    {"private use", false}, "172.31.255.255": {"private use", false},
		"192.0.0.1": {"protocol assignments", false}, "192.0.0.192": {"metadata of a cloud", true},
		"192.0.2.255": {"documentation", false}, "192.88.99.1": {"6to4 relays", false}, "192.168.255.255": {"private use", false},
		"198.18.0.0": {"benchmarks", false}, "198.19.255.255": {"benchmarks", false},
		"198.51.100.7": {"documentation", false}, "203.0.113.7": {"documentation", false},
		"224.0.0.1": {"multicast", true}, "239.255.255.255": {"multicast", true},
		"240.0.0.1": {"reserved", false}, "255.255.255.254": {"reserved", false}, "255.255.255.255": {"broadcast", true},

		"::": {"unspecified", true}, "::1": {"loopback", false},
		"::7f00:1": {"IPv4-compatible, an IPv4 address inside", true}, "::8.8.8.8": {"IPv4-compatible, an IPv4 address inside", true},
		"::ffff:0:7f00:1": {"IPv4-translated, an IPv4 address inside", true},
		"::ffff:10.0.0.1": {"private use", false}, "::ffff:169.254.169.254": {"metadata of a cloud", true},
		"64:ff9b::7f00:1": {"NAT64, an IPv4 address inside", false}, "64:ff9b:1:ffff::1": {"NAT64, an IPv4 address inside", false},
		"64:ff9b::a9fe:a9fe":         {"NAT64, an IPv4 address inside", true},
		"64:ff9b:1::a9fe:a9fe":       {"NAT64, an IPv4 address inside", true},
		"64:ff9b:1:a9fe:a9:fe00::":   {"NAT64, an IPv4 address inside", true},
		"64:ff9b:1:a9:fe:a9fe::":     {"NAT64, an IPv4 address inside", true},
		"64:ff9b:1:0:a9:fea9:fe00::": {"NAT64, an IPv4 address inside", true},
		"100::1":                     {"discard-only", false}, "100:0:0:1::1": {"dummy prefix", false},
		"2001::1": {"Teredo, an IPv4 address inside", true}, "2001:0:ffff::": {"Teredo, an IPv4 address inside", true},
		"2001:2::1": {"benchmarks", false}, "2001:20::1": {"protocol assignments", false}, "2001:1ff::1": {"protocol assignments", false},
		"2001:db8::1": {"documentation", false}, "2002:7f00:1::": {"6to4, an IPv4 address inside", true},
		"3fff::1": {"documentation", false}, "5f00::1": {"segment routing", false},
		"fc00::1": {"private use", false}, "fdff:ffff::1": {"private use", false},
		"fd00:ec2::254": {"metadata of a cloud", true}, "fd00:ec2::23": {"credentials of a container", true}, "fd20:ce::254": {"metadata of a cloud", true},
		"fd00:42::42": {"metadata of a cloud", true}, "fd00:c1::a9fe:a9fe": {"metadata of a cloud", true}, "fe80::a9fe:a9fe%eth0": {"metadata of a cloud", true},
		"fe80::1": {"link-local", false}, "fe80::1%eth0": {"link-local", false}, "febf::1": {"link-local", false},
		"fec0::1": {"site-local", false}, "feff::1": {"site-local", false},
		"ff02::1": {"multicast", true}, "ff02::1%eth0": {"multicast", true},
		"200::1": {"not for public use", false}, "1fff::1": {"not for public use", false}, "4000::1": {"not for public use", false}, "fe00::1": {"not for public use", false},
	}
	rows := make(map[string]bool)
	for text, want := range cases {
		n, ok := ClosedNetwork(netip.MustParseAddr(text), false)
		if !ok || n.Name != want.name {
			t.Errorf("%s: %v, %v; want %s", text, n, ok, want.name)
		}
		rows[n.Prefix.String()] = true
		if n, ok := ClosedNetwork(netip.MustParseAddr(text), true); ok != want.always {
			t.Errorf("%s with private targets: %v, %v; want %v", text, n, ok, want.always)
		}
	}
	for _, n := range closedNetworks {
		if !rows[n.Prefix.String()] {
			t.Errorf("no case for %s", n)
		}
	}
}

// TestClosedNetworksAreReachable checks that no row stands behind a wider one, where it would never be found.
func TestClosedNetworksAreReachable(t *testing.T) {
	for i, n := range closedNetworks {
		if n.Prefix != n.Prefix.Masked() || n.Name == "" || n.Source == "" {
			t.Errorf("row %s is not whole", n)
		}
		for _, before := range closedNetworks[:i] {
			if before.Prefix.Bits() <= n.Prefix.Bits() && before.Prefix.Overlaps(n.Prefix) {
				t.Errorf("%s stands behind %s", n, before)
			}
		}
	}
}

// TestOpenNetworks has public addresses, also at the borders of what is closed.
func TestOpenNetworks(t *testing.T) {
	for _, text := range []string{
		"1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "168.63.129.15", "168.63.129.17",
		"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.31.196.1", "192.52.193.1", "192.88.98.255",
		"192.88.100.0", "192.167.255.255", "192.169.0.0", "192.175.48.1", "198.17.255.255", "198.20.0.0", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
		"2001:200::1", "2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1111", "2620:4f:8000::1", "3ffe::1", "::ffff:8.8.8.8",
	} {
		if n, ok := ClosedNetwork(netip.MustParseAddr(text), false); ok {
			t.Errorf("%s is closed by %s", text, n)
		}
	}
	if _, ok := ClosedNetwork(netip.Addr{}, true); !ok {
		t.Error("an invalid address is open")
	}
	for _, text := range []string{"64:ff9b::8.8.8.8", "64:ff9b:1::8.8.8.8", "64:ff9b:1:808:8:800::"} {
		if n, ok := ClosedNetwork(netip.MustParseAddr(text), true); ok {
			t.Errorf("%s is closed by %s though private targets are allowed", text, n)
		}
	}
}

// TestClosedNetworksAreListed holds the table of docs/format/api.md to that of the code.
func TestClosedNetworksAreListed(t *testing.T) {
	page, err := os.ReadFile("../docs/format/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range closedNetworks {
		closed := "unless private targets are allowed"
		if n.Always {
			closed = "always"
		}
		row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", n.Prefix, n.Name, n.Source, closed)
		if !strings.Contains(string(page), row) {
			t.Errorf("the page lacks the row %s", row)
		}
	}
	if n := strings.Count(string(page), "| unless private targets are allowed |") + strings.Count(string(page), "| always |"); n != len(closedNetworks) {
		t.Errorf("the page has %d rows; want %d", n, len(closedNetworks))
	}
}
