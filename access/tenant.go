package access

import (
	"math"
	"net/netip"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Tenant is what the file of rights says of a tenant. The zero value restricts nothing.
type Tenant struct {
	Targets Targets
	Quota   Quota
}

// Targets are what the jobs of a tenant may reach. A nil list restricts nothing, an empty one permits nothing.
type Targets struct {
	Subjects []string // patterns of NATS subjects, with the wildcards * and >
	Hosts    []string // names of hosts in lower case; *.example.com is each name below example.com
	Private  []Network
}

// Network is a part of a closed network that http targets may reach all the same, as exactly one port.
type Network struct {
	Prefix netip.Prefix
	Port   uint16
}

// Quota bounds what a tenant uses. A zero is no bound.
type Quota struct {
	Jobs      int64
	Bytes     int64   // of its jobs in the store, with payloads
	Rate      float64 // requests per second
	LiveRuns  int64   // runs without an outcome
	InFlight  int64   // attempts under way
	Streams   int64   // pages and other readers that stay connected
	Calendars int64
}

func readTenant(to *Tenant, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		return readMapping(n, what,
			key{"targets", func(n *yaml.Node) error { return readTargets(n, "targets of "+what, &to.Targets) }},
			key{"quota", func(n *yaml.Node) error { return readQuota(n, "quota of "+what, &to.Quota) }})
	}
}

func readTargets(n *yaml.Node, what string, t *Targets) error {
	return readMapping(n, what,
		key{"subjects", func(n *yaml.Node) error {
			t.Subjects = []string{}
			return texts("subjects of "+what, func(n *yaml.Node, one string) error {
				if !isSubjectPattern(one) {
					return wrong(n, "%q is no pattern of subjects; want tokens and dots, such as billing.>", one)
				}
				t.Subjects = append(t.Subjects, one)
				return nil
			})(n)
		}},
		key{"hosts", func(n *yaml.Node) error {
			t.Hosts = []string{}
			return texts("hosts of "+what, func(n *yaml.Node, one string) error {
				if !isHostPattern(one) {
					return wrong(n, "%q is no name of a host; want such as api.example.com, *.example.com or 192.0.2.1, without a port", one)
				}
				t.Hosts = append(t.Hosts, strings.ToLower(one))
				return nil
			})(n)
		}},
		key{"private", func(n *yaml.Node) error {
			t.Private = []Network{}
			return texts("private of "+what, func(n *yaml.Node, one string) error {
				network, ok := parseNetwork(one)
				if !ok {
					return wrong(n, "%q is no network with a port; want such as 10.2.0.0/16:443 or [fd00:1::/64]:443", one)
				}
				t.Private = append(t.Private, network)
				return nil
			})(n)
		}})
}

// isSubjectPattern reports whether a text is a subject, or a pattern of subjects, of NATS.
func isSubjectPattern(s string) bool {
	if len(s) > 256 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	tokens := strings.Split(s, ".")
	for i, token := range tokens {
		switch {
		case token == "" || token == ">" && i != len(tokens)-1:
			return false
		case len(token) > 1 && strings.ContainsAny(token, "*>"):
			return false
		}
	}
	return true
}

// isHostPattern reports whether a text is a host, or a pattern of names below a domain.
func isHostPattern(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	name := strings.TrimPrefix(s, "*.")
	if name == "" || len(name) > 253 || strings.HasSuffix(name, ".") {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, isNoHostRune) {
			return false
		}
	}
	return true
}

func isNoHostRune(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

func parseNetwork(s string) (n Network, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return n, false
	}
	prefix, err := netip.ParsePrefix(strings.TrimSuffix(strings.TrimPrefix(s[:i], "["), "]"))
	port, err2 := strconv.ParseUint(s[i+1:], 10, 16)
	if err != nil || err2 != nil || port == 0 || prefix != prefix.Masked() {
		return n, false
	}
	return Network{prefix, uint16(port)}, true
}

func readQuota(n *yaml.Node, what string, q *Quota) error {
	return readMapping(n, what,
		key{"jobs", count(&q.Jobs, "jobs of "+what)},
		key{"bytes", size(&q.Bytes, "bytes of "+what)},
		key{"rate", rate(&q.Rate, "rate of "+what)},
		key{"live_runs", count(&q.LiveRuns, "live_runs of "+what)},
		key{"in_flight", count(&q.InFlight, "in_flight of "+what)},
		key{"streams", count(&q.Streams, "streams of "+what)},
		key{"calendars", count(&q.Calendars, "calendars of "+what)})
}

// countMax bounds the numbers of a quota far above any use, so that sums of them do not overflow.
const countMax = 1 << 50

func count(to *int64, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if n.Kind != yaml.ScalarNode || err != nil || v < 1 || v > countMax {
			return wrong(n, "%s is %s; want a whole number of at least 1, or leave the key out for no bound", what, kindOf(n))
		}
		*to = v
		return nil
	}
}

// sizeUnits are the units of a size, the longest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

func size(to *int64, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		for _, unit := range sizeUnits {
			number, has := strings.CutSuffix(n.Value, unit.name)
			if !has {
				continue
			}
			v, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			if n.Kind != yaml.ScalarNode || err != nil || v < 1 || v > countMax/unit.bytes {
				break
			}
			*to = v * unit.bytes
			return nil
		}
		return wrong(n, "%s is %s; want a number of bytes, or a number with a unit such as 512MiB or 1GiB", what, kindOf(n))
	}
}

func rate(to *float64, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		number, has := strings.CutSuffix(n.Value, "/s")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if n.Kind != yaml.ScalarNode || !has || err != nil || math.IsNaN(v) || v < 0.001 || v > 1e9 {
			return wrong(n, "%s is %s; want requests per second, such as 500/s", what, kindOf(n))
		}
		*to = v
		return nil
	}
}
