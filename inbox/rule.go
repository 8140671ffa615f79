// Package inbox receives requests over NATS and publishes the replies, to inboxes only.
//
// The caller of a request chooses the subject of the reply. A server that published replies to any
// subject would lend its own rights to each caller: a reply to the subject of another verb would be a
// request by the server. So replies go to inboxes only, and a request with another reply subject is
// dropped before a handler sees it. A [Request] does not expose its reply subject: [Request.Answer] is
// the only way to publish to it.
//
// A request arrives at a subscription of a [Desk] (desk.go). The desk asks its [Rule] (rule.go) about the
// reply subject, and drops the request or passes it to a handler, on the goroutine of the subscription. All
// desks of a server share one rule, so that its count is that of the server.
//
// The package does not decide who may send a request: that is the matter of NATS and of the handler.
package inbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// PrefixesMax bounds the number of inbox prefixes that may be configured besides the default ones, and
// PrefixBytesMax the length of each in bytes. Every request is compared with all of them, so the bound is
// also that of the cost of a request.
const (
	PrefixesMax    = 16
	PrefixBytesMax = 64
)

// usual lists the inbox prefixes that are always allowed: those of the client libraries, and those that
// NATS itself uses when a request passes from one account to another. They have no dot at the end, so that
// prefixes such as _INBOX_alice, by which operators keep the inboxes of users apart, are allowed as well.
var usual = []string{"_INBOX", "_R_"}

// OfRuns is the prefix of the inboxes on which Carillon itself awaits the answers to runs and the acknowledgements of
// streams. No request may have its reply there: the programs of one tenant see such inboxes, and a reply to one could
// count as the answer to a run of another tenant. All servers have the same prefix, because those of a cluster answer
// the same tenants. It begins with _INBOX, so that it needs no permission of its own.
const OfRuns = "_INBOX.carillon-runs"

// gateway is the prefix of reply subjects for requests from another NATS cluster: the names of the
// cluster and of the server follow, and then the subject that the caller chose.
const gateway = "_GR_."

// Rule says which subjects are inboxes of clients, and counts the requests that were dropped because their reply
// subject is not one. The zero value and a nil Rule allow the default inboxes. It is safe for concurrent
// use.
type Rule struct {
	prefixes []string      // besides the usual ones; never changes
	dropped  atomic.Uint64 // see Dropped
	said     atomic.Int64  // when a drop was last logged, in nanoseconds of Unix time; 0 before the first
}

// NewRule returns the rule of a server whose own subjects begin with the token own. more lists further
// inbox prefixes, as clients set them with nats.CustomInboxPrefix. NewRule refuses a prefix of the
// server's own subjects, and one of the subjects of NATS itself.
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
	// An overlap in either direction would let a caller choose a subject of the service as its inbox.
	for _, prefix := range append(r.prefixes, append([]string{gateway}, usual...)...) {
		if strings.HasPrefix(prefix, own+".") || strings.HasPrefix(own+".", prefix) {
			return nil, fmt.Errorf("the prefix of inboxes %q and the prefix of the service %q overlap, so that a reply could be a request; change one of the two", prefix, own)
		}
	}
	return r, nil
}

// validate returns an error for a prefix that cannot begin an inbox. The text continues
// "the prefix of inboxes …".
func validate(prefix string) error {
	switch {
	case prefix == "" || len(prefix) > PrefixBytesMax:
		return fmt.Errorf("has %d bytes; want 1 to %d, such as _CINBOX", len(prefix), PrefixBytesMax)
	case prefix[0] == '$':
		return errors.New("begins with $, as the subjects of NATS itself do; want one such as _CINBOX")
	case strings.HasPrefix(prefix, "_GR_"):
		return errors.New("begins with _GR_., as replies through gateways do, which are always allowed; want the prefix that clients set, such as _CINBOX")
	case strings.ContainsFunc(prefix, func(c rune) bool { return !unicode.IsPrint(c) || strings.ContainsRune("*> ", c) }):
		return errors.New("has a wildcard, a space or a character that cannot be printed; want one such as _CINBOX")
	case strings.HasPrefix(prefix, ".") || strings.HasSuffix(prefix, ".") || strings.Contains(prefix, ".."):
		return errors.New("has an empty token; want one such as _CINBOX, or _CINBOX.team")
	}
	return nil
}

// Allows reports whether a subject is an inbox of a client.
func (r *Rule) Allows(subject string) bool {
	if rest, ok := strings.CutPrefix(subject, gateway); ok {
		tokens := strings.SplitN(rest, ".", 3)
		if len(tokens) < 3 {
			return false
		}
		subject = tokens[2]
	}
	if strings.HasPrefix(subject, gateway) {
		return false // a reply passes at most one gateway, and a second prefix could hide a subject
	}
	if strings.HasPrefix(subject, OfRuns) {
		return false
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

// Overlaps reports whether some subject of a pattern may be an inbox of a client, so that who receives the pattern could
// answer in the place of others.
func (r *Rule) Overlaps(pattern string) bool {
	prefixes := append([]string{gateway}, usual...)
	if r != nil {
		prefixes = append(prefixes, r.prefixes...)
	}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return reaches(pattern, prefix) })
}

// reaches reports whether some subject of a pattern begins with a text. The last token of the text may be the beginning of
// a token of the subject.
func reaches(pattern, prefix string) bool {
	tokens, of := strings.Split(pattern, "."), strings.Split(strings.TrimSuffix(prefix, "."), ".")
	for i, want := range of {
		switch {
		case i < len(tokens) && tokens[i] == ">":
			return true
		case i >= len(tokens):
			return false
		case tokens[i] == "*" || tokens[i] == want:
		case i < len(of)-1 || !strings.HasPrefix(tokens[i], want):
			return false
		}
	}
	return true
}

// Dropped returns the number of requests that were dropped so far. If it grows, there is most likely a client
// with an inbox prefix that the server does not know.
func (r *Rule) Dropped() uint64 {
	if r == nil {
		return 0
	}
	return r.dropped.Load()
}

// sayEvery is the least time between two log lines about dropped requests. A caller can cause as many drops
// as it likes, and must not fill the log by them.
const sayEvery = time.Minute

// drop counts a dropped request. It returns the count so far, and whether to log it.
func (r *Rule) drop(now time.Time) (dropped uint64, say bool) {
	dropped = r.dropped.Add(1)
	last := r.said.Load()
	say = now.UnixNano()-last >= int64(sayEvery) && r.said.CompareAndSwap(last, now.UnixNano())
	return dropped, say
}
