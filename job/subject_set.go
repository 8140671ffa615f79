package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// TargetPatternsMax is the most patterns that a [SubjectSet] or a [HostSet] has. It bounds the time of a match.
const TargetPatternsMax = 1000

var errTooManyPatterns = fmt.Errorf("has more than %d patterns", TargetPatternsMax)

// SubjectSet is a set of NATS subjects, written as patterns: * stands for one token, and > at the end for one or more
// tokens. The zero value is the empty set; a nil set has every subject. It must not be changed after it was passed on.
type SubjectSet struct {
	exact    map[string]struct{} // patterns without wildcards
	byFirst  map[string][]string // patterns with wildcards, by their first token
	patterns []string            // as they were added
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
	if isLiteral(pattern) {
		if s.exact == nil {
			s.exact = make(map[string]struct{})
		}
		s.exact[pattern] = struct{}{}
		return nil
	}
	if s.byFirst == nil {
		s.byFirst = make(map[string][]string)
	}
	first, _, _ := strings.Cut(pattern, ".")
	s.byFirst[first] = append(s.byFirst[first], pattern)
	return nil
}

// Contains reports whether a subject is in the set. It allocates nothing. A subject with a wildcard is in no set but
// the nil one, because it stands for several subjects.
func (s *SubjectSet) Contains(subject string) bool {
	if s == nil {
		return true
	}
	if !isLiteral(subject) {
		return false
	}
	if _, ok := s.exact[subject]; ok {
		return true
	}
	first, _, _ := strings.Cut(subject, ".")
	for _, begin := range [...]string{first, "*", ">"} {
		if slices.ContainsFunc(s.byFirst[begin], func(pattern string) bool { return matchesSubject(pattern, subject) }) {
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

// matchesSubject reports whether a literal subject has the form of a pattern.
func matchesSubject(pattern, subject string) bool {
	for more := true; more; {
		var want, token string
		var moreWanted bool
		want, pattern, moreWanted = strings.Cut(pattern, ".")
		token, subject, more = strings.Cut(subject, ".")
		switch {
		case want == ">":
			return true
		case want != "*" && want != token, more != moreWanted:
			return false
		}
	}
	return true
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
