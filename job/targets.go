package job

import (
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// Targets are the targets that the jobs of a tenant may have. A definition is checked with them, and each attempt
// again, because they may have changed since. They concern the kinds nats, request, jetstream and http. The zero value
// restricts nothing, and opens no closed network. It must not be changed after it was passed on.
type Targets struct {
	Subjects *SubjectSet // nil: every subject
	Hosts    *HostSet    // of URLs, as they are written there; nil: every host
	Reach    Reach       // the closed addresses that are open; a host must also be in Hosts
	// IsUnlisted: the file of rights does not list the tenant, so that its jobs may have no target, whatever the other fields
	// say.
	IsUnlisted bool
}

// TargetError means that a tenant's jobs may not have a target.
type TargetError struct {
	What    string // the subject or the host, with its kind
	Allowed string // the patterns of what the tenant may have, shortened; "" if it may have none
	// IsUnlisted: the file of rights does not list the tenant.
	IsUnlisted bool
}

// Error implements error.
func (e *TargetError) Error() string {
	if e.IsUnlisted {
		return fmt.Sprintf("%s is not allowed: the file of rights does not list this tenant, so that its jobs have no targets; want it under tenants", e.What)
	}
	if e.Allowed == "" {
		return fmt.Sprintf("%s is not allowed: the file of rights allows this tenant none", e.What)
	}
	return fmt.Sprintf("%s is not allowed; the file of rights allows this tenant: %s", e.What, e.Allowed)
}

// CheckSubject refuses a subject that is not among those of the tenant, with a [*TargetError]. It allocates only then.
func (t Targets) CheckSubject(subject string) error {
	if !t.IsUnlisted && t.Subjects.Contains(subject) {
		return nil
	}
	return &TargetError{What: fmt.Sprintf("the subject %q", apierr.Clip(subject)), Allowed: listPatterns(t.Subjects.Patterns()), IsUnlisted: t.IsUnlisted}
}

// CheckHost refuses the host of a URL that is not among those of the tenant, with a [*TargetError].
func (t Targets) CheckHost(host string) error {
	if !t.IsUnlisted && t.Hosts.Contains(host) {
		return nil
	}
	return &TargetError{What: fmt.Sprintf("the host %q", apierr.Clip(host)), Allowed: listPatterns(t.Hosts.Patterns()), IsUnlisted: t.IsUnlisted}
}

// patternsShown is how many patterns an error names.
const patternsShown = 5

// listPatterns returns the first patterns of a list, and how many more there are.
func listPatterns(patterns []string) string {
	var b strings.Builder
	for i, p := range patterns[:min(len(patterns), patternsShown)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(apierr.Clip(p))
	}
	if more := len(patterns) - patternsShown; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// TargetsOf returns the targets that the jobs of a tenant may have.
func (r Rules) TargetsOf(tenant string) Targets {
	var t Targets
	if r.Targets != nil {
		t = r.Targets(tenant)
	}
	if r.AllowPrivateTargets {
		t.Reach = Reach{All: true}
	}
	return t
}
