package job

import (
	"strings"
	"unicode/utf8"
)

// sharedLetters is the number of consecutive letters and digits that a text must share with a credential to be masked
// there. A smaller number would mask unrelated words, a larger one would show more of a value that a target shortens.
const sharedLetters = 6

// Shortest parts that are masked as whole words, in letters and digits. Those of a secret URL may be a host, a
// segment of a path or a PIN; those of other values are mostly chance.
const (
	wordLettersMin    = credentialBytesMin
	wordLettersMinURL = 2
)

// partBytesMax bounds the parts that are compared as a whole, in bytes. A longer one with fewer letters than sharedLetters
// consists of other characters, and is found as it is only.
const partBytesMax = 96

// material is a text of which no text of a target may show a part.
type material struct {
	text    string
	wordMin int // the shortest part that is masked as a whole word; longer ones than sharedLetters are masked anyway
}

// gram are consecutive letters of a text.
type gram [sharedLetters]rune

// sharing finds what a text shares with credentials. It indexes the text, which is short, and not the credentials, so
// time is proportional to the sum of their lengths, and memory to that of the text.
//
// The rejected way is to drop the whole text as soon as it shares anything: a result that a worker reports, and an
// error such as "connection refused" beside a host, would be lost for one word of a path. What is promised is the same
// in both: no sharedLetters letters of a credential in a row.
type sharing struct {
	text  string
	grams map[gram][]stretch
	words map[string][]stretch // shorter than a gram, and whole
	found []stretch
}

// newSharing indexes a text: as it is and decoded, with and without letters beyond ASCII.
func newSharing(text string) *sharing {
	s := &sharing{text: text, grams: make(map[gram][]stretch), words: make(map[string][]stretch)}
	for _, l := range layersOf(text) {
		s.index(l.letters(readASCII))
		if !isASCII(l.text) {
			s.index(l.letters(readUTF8))
		}
	}
	return s
}

// index adds the grams of a text, and its short words and groups of words.
func (s *sharing) index(in []letter) {
	for i := range in {
		if i+sharedLetters <= len(in) {
			g := gramOf(in[i:])
			s.grams[g] = append(s.grams[g], stretch{in[i].from, in[i+sharedLetters-1].to, true})
		}
		if i > 0 && in[i-1].word == in[i].word {
			continue
		}
		for n := wordLettersMinURL; n < sharedLetters && i+n <= len(in); n++ {
			if end := i + n; end == len(in) || in[end].word != in[end-1].word {
				word := textOf(in[i:end])
				s.words[word] = append(s.words[word], stretch{in[i].from, in[end-1].to, true})
			}
		}
	}
}

func gramOf(in []letter) (g gram) {
	for i := range g {
		g[i] = in[i].char
	}
	return g
}

// find adds to found what the text shares with a material, in each encoding and decoded like the text.
func (s *sharing) find(m material) {
	for _, l := range layersOf(m.text) {
		s.findLayer(l, m.wordMin)
	}
}

func (s *sharing) findLayer(l layer, wordMin int) {
	readings := []reading{readASCII}
	if !isASCII(l.text) {
		readings = append(readings, readUTF8, readLatin1)
	}
	for _, how := range readings {
		in := l.letters(how)
		s.findGrams(in)
		s.findWords(in, wordMin)
		for _, part := range strings.FieldsFunc(l.text, isBetweenParts) { // such as a-b-c, of short words
			if len(part) < partBytesMax {
				s.findWhole(textOf(layersOf(part)[0].letters(how)), wordMin)
			}
		}
	}
}

// isBetweenParts reports whether a character separates the parts of a URL or a header.
func isBetweenParts(r rune) bool { return strings.ContainsRune("/?&=;,:@ \"", r) }

// findGrams finds each gram that is not within a common word. What is found once needs no second time.
func (s *sharing) findGrams(in []letter) {
	isCommon := commonLetters(in)
	for i := 0; i+sharedLetters <= len(in); i++ {
		if isCommon[i] && in[i].word == in[i+sharedLetters-1].word {
			continue
		}
		g := gramOf(in[i:])
		s.found = append(s.found, s.grams[g]...)
		delete(s.grams, g)
	}
}

// commonLetters reports of each letter whether its word is a common one.
func commonLetters(in []letter) []bool {
	is := make([]bool, len(in))
	for begin := 0; begin < len(in); {
		end := endOfWord(in, begin)
		common := commonWords[textOf(in[begin:end])]
		for ; begin < end; begin++ {
			is[begin] = common
		}
	}
	return is
}

// endOfWord returns where the word ends that begins at a place.
func endOfWord(in []letter, begin int) int {
	end := begin
	for end < len(in) && in[end].word == in[begin].word {
		end++
	}
	return end
}

// findWords finds the words of a material that are shorter than a gram, as whole words of the text.
func (s *sharing) findWords(in []letter, wordMin int) {
	for begin := 0; begin < len(in); {
		end := endOfWord(in, begin)
		if end-begin < sharedLetters {
			s.findWhole(textOf(in[begin:end]), wordMin)
		}
		begin = end
	}
}

func (s *sharing) findWhole(word string, wordMin int) {
	if utf8.RuneCountInString(word) < wordMin || commonWords[word] {
		return
	}
	s.found = append(s.found, s.words[word]...)
	delete(s.words, word)
}

// stretches returns what was found, each extended to whole words of the text. It finds the ends of all words once,
// because much may be found within one long word.
func (s *sharing) stretches() []stretch {
	begin, end := make([]int, len(s.text)+1), make([]int, len(s.text)+1)
	for i := range len(s.text) {
		if begin[i+1] = i + 1; isOfWord(s.text[i]) {
			begin[i+1] = begin[i]
		}
	}
	end[len(s.text)] = len(s.text)
	for i := len(s.text) - 1; i >= 0; i-- {
		if end[i] = i; isOfWord(s.text[i]) {
			end[i] = end[i+1]
		}
	}
	for i, one := range s.found {
		s.found[i].from, s.found[i].to = begin[one.from], end[one.to]
	}
	return s.found
}

// isOfWord reports whether a byte may be within a word.
func isOfWord(c byte) bool { return isLetter(c) || isDigit(c) || c >= utf8.RuneSelf }
