package job

import (
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// natsPrefixes are the prefixes of the subjects that NATS servers and clients use themselves. They would read a
// message there as a reply, an acknowledgement or a command.
var natsPrefixes = []struct{ prefix, use string }{
	{"$", "commands and events of NATS servers"},
	{"_INBOX", "inboxes of clients"},
	{"_CINBOX", "inboxes of clients"},
	{"_R_", "replies across accounts"},
	{"_GR_", "replies across clusters"},
}

// CheckSubject refuses a subject that belongs to NATS, to Carillon or to an inbox. Stored definitions too must pass
// it at each launch, so it is cheap and allocates only when it refuses. The prefixes depend on the configuration,
// which may have changed since the definition was stored; that is why a launch checks them again.
func (r Rules) CheckSubject(subject string) error {
	for _, n := range natsPrefixes {
		if strings.HasPrefix(subject, n.prefix) {
			return fmt.Errorf("subjects that begin with %s belong to NATS (%s); want one of your own", n.prefix, n.use)
		}
	}
	for _, prefix := range r.InboxPrefixes {
		if prefix != "" && strings.HasPrefix(subject, prefix) {
			return fmt.Errorf("subjects that begin with %q are inboxes of clients (--inbox-prefix); want one of your own", prefix)
		}
	}
	if rest, ok := strings.CutPrefix(subject, r.Prefix); ok && r.Prefix != "" && (rest == "" || rest[0] == '.') {
		return fmt.Errorf("subjects under %q belong to Carillon; want one of your own", r.Prefix)
	}
	return nil
}

// validateSubject refuses subjects that NATS would refuse, wildcards, and subjects by which a job could reach the
// NATS servers, callers that wait for a reply, or Carillon itself, and those that the tenant may not have. A credential
// of a NATS server would let Carillon publish there, so a job could otherwise do what its owner may not. The rule is the same
// for the kinds nats, request and jetstream, and that of the streams of tenants: package bus refuses a stream of subjects
// that begin with _ or $. A stored definition of an earlier release with another subject that begins with _ is launched as
// before, which is why the last is not part of CheckSubject.
func validateSubject(subject, tenant string, rules Rules) error {
	bad := func(format string, args ...any) error {
		return apierr.Errorf(apierr.InvalidTarget, "target.subject", format, args...)
	}
	if subject == "" || len(subject) > SubjectBytesMax {
		return bad("must have 1 to %d characters, has %d", SubjectBytesMax, len(subject))
	}
	if !isPrintable(subject) || strings.ContainsAny(subject, " ") {
		return bad("must be printable text without spaces, such as reports.run")
	}
	for token := range strings.SplitSeq(subject, ".") {
		switch token {
		case "":
			return bad("has an empty token; want tokens joined by single dots, such as reports.run")
		case "*", ">":
			return bad("has the wildcard %q; a run goes to one subject", token)
		}
	}
	if err := rules.CheckSubject(subject); err != nil {
		return bad("%s", err)
	}
	if subject[0] == '_' {
		return bad("begins with _, as inboxes and replies of NATS do, which no stream of a tenant may keep; want one that begins with a word, such as reports.run")
	}
	if err := rules.TargetsOf(tenant).CheckSubject(subject); err != nil {
		return bad("%s", err)
	}
	return nil
}
