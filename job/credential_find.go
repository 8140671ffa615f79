package job

import "strings"

// searchStepsMax bounds the bytes of credentials that are found in one text, including mere beginnings of
// credentials. It is exceeded only by texts and credentials that both repeat themselves at most places. The texts are
// errors and results of targets, so their length is not the caller's to trust: without the bound a target could keep
// a core busy with an answer made for it.
const searchStepsMax = 1 << 20

// echo is a text that is searched for credentials, with the escapes that begin at each of its bytes. It belongs to
// one call of MaskInCut.
type echo struct {
	text    string
	escapes [][]escape
	steps   int                      // of all searches; beyond searchStepsMax they end early
	seen    int                      // one more than the largest value in met
	met     [plainBytesMax + 1][]int // by place in the text: the search and the length of its credential with which a way last came here
}

// stretch is a part of a text that is removed. A mask replaces it, or nothing.
type stretch struct {
	from, to int
	isWhole  bool // it is a whole credential, so a mask replaces it
}

// newEcho finds the escapes of a text once, for the searches for all credentials.
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

// place is the progress of one way to read a text as a credential: where it began, and where it is.
type place struct{ start, at int }

// search follows all ways to read a text as one credential, one byte of the credential at a time: each byte is in the
// text as it is or as an escape. Two ways that meet continue as one, so a search takes at most as many steps as the
// product of the lengths of text and credential.
type search struct {
	*echo
	value string
	first int // the first value that the search writes into met
	// By the number of bytes of the credential that are read, modulo the length of the array: an escape stands for
	// fewer bytes.
	places [plainBytesMax + 1][]place
}

// find appends the parts of the text that are the credential. If the text is cut, it also appends the part at the end
// that may be the beginning of the credential.
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

// isUnderWay reports whether any way continues.
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

// step continues from a place at which n bytes of the credential have been read.
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

// reach records a place, unless another way came there before. Two ways that have read the same number of bytes and
// are at the same place continue in the same way, so one of them is enough.
func (s *search) reach(n int, p place) {
	slot, mark := n%len(s.places), s.first+n
	if s.met[slot][p.at] == mark {
		return
	}
	s.steps++
	s.met[slot][p.at] = mark
	s.places[slot] = append(s.places[slot], p)
}
