package job

import (
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// TargetPatternsMax is the most patterns that a [SubjectSet] or a [HostSet] has.
const TargetPatternsMax = 1000

var errTooManyPatterns = fmt.Errorf("has more than %d patterns", TargetPatternsMax)

// SubjectSet is a set of NATS subjects, written as patterns: * stands for one token, and > at the end for one or more
// tokens. The zero value is the empty set; a nil set has every subject. It must not be changed after it was passed on.
type SubjectSet struct {
	root     subjectNode
	patterns []string // as they were added
}

// subjectNode stands for the beginnings of patterns up to one of their tokens. So a match takes a look for each token of
// the subject, however many patterns there are, and more only where patterns with * overlap.
type subjectNode struct {
	next map[string]*subjectNode // by the next token, * included
	ends bool                    // a pattern ends here
	rest bool                    // a pattern has > here
}

// Add adds the subjects of a pattern. The error says what would be right.
func (s *SubjectSet) Add(pattern string) error {
	if !isSubjectPattern(pattern) {
		return fmt.Errorf("has %q, which is no pattern of subjects; want tokens and dots, such as billing.run, billing.* or billing.>", apierr.Clip(pattern))
	}
	if len(s.patterns) == TargetPatternsMax {
		return errTooManyPatterns
	}
	s.patterns = append(s.patterns, pattern)
	n := &s.root
	for token := range strings.SplitSeq(pattern, ".") {
		if token == ">" {
			n.rest = true
			return nil
		}
		if n.next == nil {
			n.next = make(map[string]*subjectNode)
		}
		if n.next[token] == nil {
			n.next[token] = new(subjectNode)
		}
		n = n.next[token]
	}
	n.ends = true
	return nil
}

// Contains reports whether a subject is in the set. It allocates nothing. A subject with a wildcard is in no set but
// the nil one, because it stands for several subjects.
func (s *SubjectSet) Contains(subject string) bool {
	if s == nil {
		return true
	}
	return isLiteral(subject) && s.root.has(subject)
}

// has reports whether the rest of a literal subject continues a pattern to its end.
func (n *subjectNode) has(subject string) bool {
	if n.rest {
		return true
	}
	token, rest, more := strings.Cut(subject, ".")
	for _, next := range [...]*subjectNode{n.next[token], n.next["*"]} {
		if next != nil && (more && next.has(rest) || !more && next.ends) {
			return true
		}
	}
	return false
}

// Patterns returns the patterns in the order in which they were added. The caller must not change them.
func (s *SubjectSet) Patterns() []string {
	if s == nil {
		return nil
	}
	return s.patterns
}

// isLiteral reports whether each token of a subject stands for itself. A subject that NATS refuses, because a token is
// empty, is not literal.
func isLiteral(subject string) bool {
	for token := range strings.SplitSeq(subject, ".") {
		if token == "" || token == "*" || token == ">" {
			return false
		}
	}
	return true
}

// isSubjectPattern reports whether a text is a subject, or a pattern of subjects. A wildcard within a token, such as
// bill*, is none: NATS takes it literally, and a reader would not.
func isSubjectPattern(s string) bool {
	if len(s) > SubjectBytesMax || !isPrintable(s) || strings.Contains(s, " ") {
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
