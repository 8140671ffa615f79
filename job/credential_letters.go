package job

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// layer is a text in which escapes may be decoded, with the place in the original text of each of its bytes.
type layer struct {
	text     string
	from, to []int
}

// layersOf returns a text as it is, and with its escapes decoded once, twice and so on, at most depthMax times.
func layersOf(text string) []layer {
	l := layer{text: text, from: make([]int, len(text)), to: make([]int, len(text))}
	for i := range len(text) {
		l.from[i], l.to[i] = i, i+1
	}
	all := []layer{l}
	for range depthMax {
		next := l.decoded()
		if next.text == l.text {
			break
		}
		all, l = append(all, next), next
	}
	return all
}

// decoded returns the layer with each escape replaced by what it stands for; the layer itself if it has none.
func (l layer) decoded() layer {
	if !strings.ContainsAny(l.text, escapeMarks) {
		return l
	}
	text := make([]byte, 0, len(l.text))
	d := layer{from: make([]int, 0, len(l.text)), to: make([]int, 0, len(l.text))}
	for i := 0; i < len(l.text); {
		length, plain := 1, l.text[i:i+1]
		if e := escapeAt(l.text, i); e.length > 0 {
			length, plain = e.length, e.plain
		}
		for range len(plain) {
			d.from, d.to = append(d.from, l.from[i]), append(d.to, l.to[i+length-1])
		}
		text, i = append(text, plain...), i+length
	}
	d.text = string(text)
	return d
}

// reading is how the bytes of a text become letters.
type reading int

const (
	readASCII  reading = iota // letters and digits of ASCII, which are the same in all encodings
	readUTF8                  // others too; a byte that is no UTF-8 is a character of Latin-1
	readLatin1                // others too; each byte is a character of Latin-1
)

// letter is a letter or a digit of a text, in lower case.
type letter struct {
	char     rune
	from, to int // its place in the original text
	word     int // number of its word: letters beside one another are of one word
}

// letters returns the letters and digits of a layer. All else is left out: a target may put spaces, line breaks,
// hyphens or quotes in the midst of a value.
func (l layer) letters(how reading) []letter {
	all := make([]letter, 0, len(l.text))
	word, end := 0, 0
	for i := 0; i < len(l.text); {
		char, size := rune(l.text[i]), 1
		if how != readLatin1 {
			if char, size = utf8.DecodeRuneInString(l.text[i:]); char == utf8.RuneError && size == 1 {
				char = rune(l.text[i])
			}
		}
		if isLetterOf(char, how) {
			if i != end {
				word++
			}
			all = append(all, letter{unicode.ToLower(char), l.from[i], l.to[i+size-1], word})
			end = i + size
		}
		i += size
	}
	return all
}

// isLetterOf reports whether a reading keeps a character. Beyond ASCII it keeps signs too, because a letter that was
// read in the wrong encoding is two signs.
func isLetterOf(char rune, how reading) bool {
	if char < utf8.RuneSelf {
		return isLetter(byte(char)) || isDigit(byte(char))
	}
	return how != readASCII && char != utf8.RuneError && !unicode.IsSpace(char) && !unicode.In(char, unicode.Cc, unicode.Cf)
}

// isASCII reports whether a text has bytes of ASCII only.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// textOf returns letters as a text.
func textOf(letters []letter) string {
	runes := make([]rune, len(letters))
	for i, one := range letters {
		runes[i] = one.char
	}
	return string(runes)
}
