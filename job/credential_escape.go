package job

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of the search for escaped credentials.
const (
	escapeBytesMax = 15 // the longest escape that is recognized, such as &#x0001F600; or a pair of \uXXXX
	plainBytesMax  = 4  // the longest text for which an escape may stand: one character in UTF-8
	depthMax       = 3  // how often one character may be escaped, as in %25252F
)

// escape is an escape sequence at a place of a text. The zero value means none.
type escape struct {
	length int    // in bytes
	plain  string // the text for which it stands, 1 to plainBytesMax bytes
	isOpen bool   // the text ends within it, so it is unknown for what it stands
}

// escapesAt returns the escapes that may begin at a place of a text: the one that is there and, if it stands for a
// character that begins an escape, the longer ones that it begins.
func escapesAt(text string, at, depth int) []escape {
	outer := escapeAt(text, at)
	if outer == (escape{}) {
		return nil
	}
	found := []escape{outer}
	if depth == depthMax || outer.plain == "" || !strings.Contains(escapeMarks, outer.plain) {
		return found
	}
	inside, ends, isEnd := plainFrom(text, at)
	for _, inner := range escapesAt(inside, 0, depth+1) {
		inner.isOpen = inner.isOpen && isEnd
		inner.length = ends[inner.length]
		found = append(found, inner)
	}
	return found
}

// plainFrom returns the text for which the escapes of a text stand, from a place on and over the length of the
// longest escape. For each length of that result, ends gives the place in the text where it ends, relative to at.
// isEnd reports that the text ends within that range.
func plainFrom(text string, at int) (plain string, ends []int, isEnd bool) {
	var b strings.Builder
	i := at
	for ends = append(ends, 0); i < len(text) && b.Len() < escapeBytesMax; {
		length, part := 1, text[i:i+1]
		if e := escapeAt(text, i); e.isOpen {
			return b.String(), ends, true
		} else if e.length > 1 {
			length, part = e.length, e.plain
		}
		i += length
		for range len(part) {
			ends = append(ends, i-at)
		}
		b.WriteString(part)
	}
	return b.String(), ends, i == len(text)
}

// escapeMarks are the bytes that begin escapes. A plus is not among them, because it can only stand for a space.
const escapeMarks = `%\&`

// escapeAt returns the escape that begins at a place of a text: of URLs (%2F), of JSON and other languages (\/ \"
// \u002f \x2f), or of HTML (&amp; &#47; &#x2F;). A plus may stand for a space, as in a query.
func escapeAt(text string, at int) escape {
	rest := text[at:min(len(text), at+escapeBytesMax)]
	isEnd := at+len(rest) == len(text)
	switch rest[0] {
	case '%':
		return hexEscape(rest, 1, 2)
	case '\\':
		return backslashEscape(rest)
	case '&':
		return htmlEscape(rest, isEnd)
	case '+':
		return escape{length: 1, plain: " "}
	}
	return escape{}
}

// hexEscape reads the given number of hexadecimal digits after a mark; they are one byte.
func hexEscape(rest string, mark, digits int) escape {
	if len(rest) < mark+digits {
		return escape{isOpen: isHex(rest[mark:])}
	}
	n, err := strconv.ParseUint(rest[mark:mark+digits], 16, 8)
	if err != nil {
		return escape{}
	}
	return escape{length: mark + digits, plain: string([]byte{byte(n)})}
}

// backslashEscape reads an escape of JSON, or a further one of other languages.
func backslashEscape(rest string) escape {
	if len(rest) < 2 {
		return escape{isOpen: true}
	}
	switch c := rest[1]; {
	case c == 'u':
		return unicodeEscape(rest)
	case c == 'x':
		return hexEscape(rest, 2, 2)
	case isLetter(c):
		const letters, plain = "bfnrt", "\b\f\n\r\t"
		if i := strings.IndexByte(letters, c); i >= 0 {
			return escape{length: 2, plain: plain[i : i+1]}
		}
	case c > ' ' && c < utf8.RuneSelf && !isDigit(c):
		return escape{length: 2, plain: rest[1:2]}
	}
	return escape{}
}

// unicodeEscape reads \uXXXX, or two of them that are the halves of one character.
func unicodeEscape(rest string) escape {
	const length = len(`\uXXXX`)
	first, isOpen, ok := utf16Unit(rest)
	if !ok {
		return escape{isOpen: isOpen}
	}
	if !utf16.IsSurrogate(first) {
		return escape{length: length, plain: string(first)}
	}
	second, isOpen, ok := utf16Unit(rest[length:])
	if whole := utf16.DecodeRune(first, second); ok && whole != utf8.RuneError {
		return escape{length: 2 * length, plain: string(whole)}
	}
	return escape{isOpen: isOpen}
}

// utf16Unit reads one \uXXXX; isOpen reports that the text ends within it.
func utf16Unit(rest string) (unit rune, isOpen, ok bool) {
	const mark, length = `\u`, len(`\uXXXX`)
	if len(rest) < length {
		digits, hasMark := strings.CutPrefix(rest, mark)
		return 0, strings.HasPrefix(mark, rest) || hasMark && isHex(digits), false
	}
	n, err := strconv.ParseUint(rest[len(mark):length], 16, 16)
	return rune(n), false, err == nil && strings.HasPrefix(rest, mark)
}

// htmlEscape reads a character reference of HTML, by name or number, up to the semicolon.
func htmlEscape(rest string, isEnd bool) escape {
	end := strings.IndexByte(rest, ';')
	if end < 0 {
		return escape{isOpen: isEnd && len(rest) < escapeBytesMax && !strings.ContainsAny(rest[1:], " &")}
	}
	name := rest[:end+1]
	if plain := html.UnescapeString(name); plain != name && len(plain) <= plainBytesMax {
		return escape{length: len(name), plain: plain}
	}
	if plain := html.UnescapeString(strings.ToLower(name)); utf8.RuneCountInString(plain) == 1 {
		return escape{length: len(name), plain: plain}
	}
	return escape{}
}

// isHex reports whether a text consists of hexadecimal digits only; true for an empty text.
func isHex(text string) bool {
	return strings.Trim(text, "0123456789abcdefABCDEF") == ""
}
