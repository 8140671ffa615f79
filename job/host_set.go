package job

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// hostBytesMax and labelBytesMax are the lengths of the longest name of a host and of a part of it (RFC 1035), in
// bytes.
const (
	hostBytesMax  = 253
	labelBytesMax = 63
)

// HostSet is a set of hosts, as they are written in URLs. Its patterns are names, *.example.com for each name below
// example.com at any depth but not for example.com itself, and addresses. The zero value is the empty set; a nil set has
// every host. It must not be changed after it was passed on.
type HostSet struct {
	names    map[string]struct{} // in lower case
	below    map[string]struct{} // example.com for *.example.com
	addrs    map[netip.Addr]struct{}
	patterns []string // as they were added
}

// Add adds the hosts of a pattern. The error says what would be right.
func (s *HostSet) Add(pattern string) error {
	if len(s.patterns) == TargetPatternsMax {
		return errTooManyPatterns
	}
	if addr, err := netip.ParseAddr(pattern); err == nil {
		if addr.Zone() != "" {
			return fmt.Errorf("has the address %q with a zone; want it without", pattern)
		}
		s.addrs = withKey(s.addrs, addr.Unmap())
		s.patterns = append(s.patterns, pattern)
		return nil
	}
	domain, isBelow := strings.CutPrefix(pattern, "*.")
	name, ok := plainName(domain)
	if !ok || checkHost(domain) != nil || strings.HasSuffix(domain, ".") {
		return fmt.Errorf("has %q, which is no host; want such as api.example.com, *.example.com for each name below, or 192.0.2.1, without scheme and port, and other letters in the form xn--…", apierr.Clip(pattern))
	}
	if isBelow {
		s.below = withKey(s.below, name)
	} else {
		s.names = withKey(s.names, name)
	}
	s.patterns = append(s.patterns, pattern)
	return nil
}

// Contains reports whether the host of a URL is in the set. The case of a name and one dot at its end do not count. An
// address is compared as an address: its form and its zone do not count, and an IPv4-mapped one is its IPv4 address. It
// is in the set only if the set has the address, whatever names lead to it. A host that is neither an address nor a
// name in the usual form is in no set but the nil one, because readers differ on what it is.
func (s *HostSet) Contains(host string) bool {
	if s == nil {
		return true
	}
	if name, ok := plainName(host); ok {
		if _, ok := s.names[name]; ok {
			return true
		}
		if s.isBelow(name) {
			return true
		}
	}
	if len(s.addrs) == 0 {
		return false
	}
	addr, err := netip.ParseAddr(host)
	_, ok := s.addrs[addr.WithZone("").Unmap()]
	return err == nil && ok
}

// isBelow reports whether a name is below one of the domains of the set.
func (s *HostSet) isBelow(name string) bool {
	for rest, more := name, len(s.below) > 0; more; {
		if _, rest, more = strings.Cut(rest, "."); more {
			if _, ok := s.below[rest]; ok {
				return true
			}
		}
	}
	return false
}

// Patterns returns the patterns in the order in which they were added. The caller must not change them.
func (s *HostSet) Patterns() []string {
	if s == nil {
		return nil
	}
	return s.patterns
}

// plainName returns the form of a name by which names are compared, and whether the text can be a name: labels of
// letters, digits, - and _. An IPv4 address has that form too.
func plainName(host string) (name string, ok bool) {
	name = strings.ToLower(strings.TrimSuffix(host, "."))
	if len(name) > hostBytesMax || apierr.IndexOutside(name, ".-_") >= 0 {
		return "", false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > labelBytesMax {
			return "", false
		}
	}
	return name, true
}

// withKey returns a set with one key more.
func withKey[K comparable](set map[K]struct{}, key K) map[K]struct{} {
	if set == nil {
		set = make(map[K]struct{})
	}
	set[key] = struct{}{}
	return set
}
