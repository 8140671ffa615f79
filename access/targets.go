package access

import (
	"github.com/carillon-io/carillon/job"
)

// readTargets reads the targets of a tenant. A list that is there and empty permits nothing; one that is absent
// restricts nothing.
func readTargets(n *node, what string, t *job.Targets) error {
	if n.isNull || n.kind == kindMapping && len(n.content) == 0 {
		return wrong(n, "%s is empty, and would allow every target; want subjects, hosts or private in it, or leave it out", what)
	}
	list := func(name string, add func(text string) error) func(*node) error {
		return texts(name+" of "+what, func(n *node, text string) error {
			if err := add(text); err != nil {
				return wrong(n, "%s of %s %s", name, what, err)
			}
			return nil
		})
	}
	return readMapping(n, what,
		key{name: "subjects", read: func(n *node) error {
			t.Subjects = new(job.SubjectSet)
			return list("subjects", t.Subjects.Add)(n)
		}},
		key{name: "hosts", read: func(n *node) error {
			t.Hosts = new(job.HostSet)
			return list("hosts", t.Hosts.Add)(n)
		}},
		key{name: "private", read: list("private", t.Reach.Add)})
}
