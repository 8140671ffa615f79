package job

import "strings"

// searchStepsMax is how many bytes of credentials are found in one text, those of beginnings included. A text in which
// there are more repeats itself at most of its places, and so does a credential.
const searchStepsMax = 1 << 20

// echo is a text in which credentials are looked for, with the escapes that begin at each of its bytes.
type echo struct {
	text    string
	escapes [][]escape
	steps   int                      // of all searches; past searchStepsMax they end early
	seen    int                      // one more than any value in met
	met     [plainBytesMax + 1][]int // by place in the text: of which search and length of its credential the way was that came here last
}

// stretch is a part of a text. A mask takes its place, or nothing.
type stretch struct {
	from, to int
	isWhole  bool // it is a whole credential, which leaves a mask
}

func newEcho(text string) echo {
	e := echo{text: text, escapes: make([][]escape, len(text))}
	for i := range len(text) {
		e.escapes[i] = escapesAt(text, i, 1)
	}
	for i := range e.met {
		e.met[i] = make([]int, len(text)+1)
	}
	return e
}

// place is how far one way to read a text as a credential has come.
type place struct{ start, at int }

// search follows all ways to read a text as one credential, byte by byte of the credential: a byte stands in the text
// as it is or in an escape. Two ways that meet go on as one, so a search takes at most as many steps as the text has
// bytes times those of the credential.
type search struct {
	*echo
	value string
	first int // the first value that the search puts into met
	// By what has been read of the credential, modulo their number: an escape is less than that.
	places [plainBytesMax + 1][]place
}

// find adds the parts of the text that are the credential. If the text is cut, it adds the part at its end that may
// be a beginning of the credential.
func (e *echo) find(value string, isCut bool, found []stretch) []stretch {
	s := search{echo: e, value: value, first: e.seen}
	e.seen += len(value) + 1
	cut := len(e.text)
	for i := range len(e.text) {
		s.step(0, place{i, i})
		if e.isOpen(i) {
			cut = min(cut, i)
		}
	}
	for n := 1; n < len(value) && s.isUnderWay(); n++ {
		slot := n % len(s.places)
		ways := s.places[slot]
		s.places[slot] = nil
		for _, p := range ways {
			s.step(n, p)
			if p.at == len(e.text) || e.isOpen(p.at) {
				cut = min(cut, p.start)
			}
		}
	}
	for _, p := range s.places[len(value)%len(s.places)] {
		found = append(found, stretch{from: p.start, to: p.at, isWhole: true})
	}
	if isCut {
		found = append(found, stretch{from: cut, to: len(e.text)})
	}
	return found
}

// isOpen reports whether the text may end within the escape at a place.
func (e *echo) isOpen(at int) bool {
	for _, one := range e.escapes[at] {
		if one.isOpen {
			return true
		}
	}
	return false
}

// isUnderWay reports whether any way goes on.
func (s *search) isUnderWay() bool {
	if s.steps > searchStepsMax {
		return false
	}
	for _, ways := range s.places {
		if len(ways) > 0 {
			return true
		}
	}
	return false
}

// step goes on from a place at which n bytes of the credential have been read.
func (s *search) step(n int, p place) {
	if p.at == len(s.text) {
		return
	}
	if s.text[p.at] == s.value[n] {
		s.reach(n+1, place{p.start, p.at + 1})
	}
	for _, e := range s.escapes[p.at] {
		if e.length > 0 && strings.HasPrefix(s.value[n:], e.plain) {
			s.reach(n+len(e.plain), place{p.start, p.at + e.length})
		}
	}
}

// reach notes a place, unless another way came there before.
func (s *search) reach(n int, p place) {
	slot, mark := n%len(s.places), s.first+n
	if s.met[slot][p.at] == mark {
		return
	}
	s.steps++
	s.met[slot][p.at] = mark
	s.places[slot] = append(s.places[slot], p)
}
