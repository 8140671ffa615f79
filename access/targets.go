package access

import (
	"net/netip"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/carillon-io/carillon/job"
)

// Targets are what the jobs of a tenant may reach. A nil list restricts nothing, an empty one permits nothing.
type Targets struct {
	Subjects []string // patterns of NATS subjects, with the wildcards * and >
	Hosts    []string // names of hosts in lower case; *.example.com is each name below example.com
	Private  []job.Opening
}

func readTargets(n *yaml.Node, what string, t *Targets) error {
	return readMapping(n, what,
		key{name: "subjects", read: func(n *yaml.Node) error {
			t.Subjects = []string{}
			return texts("subjects of "+what, func(n *yaml.Node, one string) error {
				if !isSubjectPattern(one) {
					return wrong(n, "%q is no pattern of subjects; want tokens and dots, such as billing.>", one)
				}
				t.Subjects = append(t.Subjects, one)
				return nil
			})(n)
		}},
		key{name: "hosts", read: func(n *yaml.Node) error {
			t.Hosts = []string{}
			return texts("hosts of "+what, func(n *yaml.Node, one string) error {
				if !isHostPattern(one) {
					return wrong(n, "%q is no name of a host; want such as api.example.com, *.example.com or 192.0.2.1, without a port", one)
				}
				t.Hosts = append(t.Hosts, strings.ToLower(one))
				return nil
			})(n)
		}},
		key{name: "private", read: func(n *yaml.Node) error {
			t.Private = []job.Opening{}
			return texts("private of "+what, func(n *yaml.Node, one string) error {
				opening, err := job.ParseOpening(one)
				if err != nil {
					return wrong(n, "%s has an item that is wrong: %v", "private of "+what, err)
				}
				t.Private = append(t.Private, opening)
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
