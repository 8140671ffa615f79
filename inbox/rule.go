// Package inbox answers requests that come over NATS.
//
// The caller of a request names the subject of the reply. A server that publishes its replies wherever it is
// told lends its own rights to each caller: a reply to the subject of another verb is a request of the server's.
// So a reply goes to an inbox, and a request that wants it elsewhere is dropped before any handler sees it. A
// [Request] does not show the subject of its reply: [Request.Answer] is the only way to publish there.
package inbox

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// PrefixesMax is how many prefixes of inboxes may be named besides the usual ones, and PrefixBytesMax how long
// each may be.
const (
	PrefixesMax    = 16
	PrefixBytesMax = 64
)

// usual are the prefixes of inboxes that every server knows: those of the clients' libraries, and those that NATS
// itself makes where a request crosses from one account into another.
var usual = []string{"_INBOX", "_R_"}

// gateway begins the subject of a reply whose request came from another cluster: the names of the cluster and of
// the server follow, and then the subject that the caller named.
const gateway = "_GR_."

// Rule says which subjects are inboxes, and counts the requests that were dropped because their reply would go
// elsewhere. The zero value, as a nil one, knows the usual inboxes. Safe for concurrent use.
type Rule struct {
	prefixes []string
	dropped  atomic.Uint64
	said     atomic.Int64 // when a drop was logged last, in nanoseconds of Unix time
}

// NewRule returns the rule of a server whose own subjects begin with the token own. More are prefixes of inboxes
// besides the usual ones, as clients name them by nats.CustomInboxPrefix. A prefix with which a subject of
// the server could begin is refused, and so is one of NATS's own subjects.
func NewRule(own string, more ...string) (*Rule, error) {
	if len(more) > PrefixesMax {
		return nil, fmt.Errorf("%d prefixes of inboxes are too many; want at most %d", len(more), PrefixesMax)
	}
	r := &Rule{}
	for _, prefix := range more {
		if err := validate(prefix); err != nil {
			return nil, fmt.Errorf("the prefix of inboxes %q %w", prefix, err)
		}
		r.prefixes = append(r.prefixes, prefix)
	}
	for _, prefix := range append(r.prefixes, append([]string{gateway}, usual...)...) {
		if strings.HasPrefix(prefix, own+".") || strings.HasPrefix(own+".", prefix) {
			return nil, fmt.Errorf("the prefix of inboxes %q and the prefix of the service %q overlap: a reply could be a request; choose another one of the two", prefix, own)
		}
	}
	return r, nil
}

func validate(prefix string) error {
	switch {
	case prefix == "" || len(prefix) > PrefixBytesMax:
		return fmt.Errorf("has %d bytes; want 1 to %d, such as _CINBOX", len(prefix), PrefixBytesMax)
	case prefix[0] == '$':
		return errors.New("begins with $, as the subjects of NATS itself do; want one such as _CINBOX")
	case strings.HasPrefix(prefix, "_GR_"):
		return errors.New("begins as the replies of gateways do, which are known; want the one that clients use, such as _CINBOX")
	case strings.ContainsFunc(prefix, func(c rune) bool { return !unicode.IsPrint(c) || strings.ContainsRune("*> ", c) }):
		return errors.New("holds a wildcard, a space or what cannot be printed; want one such as _CINBOX")
	case strings.HasPrefix(prefix, ".") || strings.HasSuffix(prefix, ".") || strings.Contains(prefix, ".."):
		return errors.New("has an empty token; want one such as _CINBOX, or _CINBOX.team")
	}
	return nil
}

// Allows reports whether a subject is an inbox.
func (r *Rule) Allows(subject string) bool {
	if rest, ok := strings.CutPrefix(subject, gateway); ok {
		tokens := strings.SplitN(rest, ".", 3)
		if len(tokens) < 3 {
			return false
		}
		subject = tokens[2]
	}
	if strings.HasPrefix(subject, gateway) {
		return false // a second gateway would take the rest for the subject
	}
	for _, prefix := range usual {
		if strings.HasPrefix(subject, prefix) {
			return true
		}
	}
	if r == nil {
		return false
	}
	for _, prefix := range r.prefixes {
		if strings.HasPrefix(subject, prefix) {
			return true
		}
	}
	return false
}

// Dropped returns how many requests were dropped.
func (r *Rule) Dropped() uint64 {
	if r == nil {
		return 0
	}
	return r.dropped.Load()
}

// sayEvery is the time between two log lines about dropped requests.
const sayEvery = time.Minute

// drop counts a request, and reports whether it is time for a log line.
func (r *Rule) drop(now time.Time) (dropped uint64, say bool) {
	dropped = r.dropped.Add(1)
	last := r.said.Load()
	say = now.UnixNano()-last >= int64(sayEvery) && r.said.CompareAndSwap(last, now.UnixNano())
	return dropped, say
}
