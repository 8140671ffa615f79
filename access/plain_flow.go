package access

import (
	"unicode"
	"unicode/utf8"
)

// flow reads a mapping in braces, a list in brackets, or a scalar.
func (p *plain) flow() *node {
	defer func() { p.depth-- }()
	switch c := p.peek(); {
	case !p.deeper():
		return nil
	case c == '{':
		return p.flowMapping()
	case c == '[':
		return p.flowList()
	}
	return p.scalar()
}

// flowMapping reads a mapping in braces.
func (p *plain) flowMapping() *node {
	m, height := p.newNode(kindMapping), len(p.stack)
	for p.at++; ; {
		p.skipSpace()
		if p.peek() == '}' {
			p.at++
			return p.fill(m, height)
		}
		key := p.key()
		if key == nil || len(key.value) > plainKeyBytesMax || p.peek() != ':' {
			return nil
		}
		if p.at++; p.peek() != ' ' {
			return nil
		}
		value := p.flowValue()
		if value == nil || !p.endItem('}') {
			return nil
		}
		p.stack = append(p.stack, key, value)
	}
}

// flowValue reads what follows a key and its colon in braces.
func (p *plain) flowValue() *node {
	p.skipSpace()
	if c := p.peek(); c == ',' || c == '}' {
		return p.newNull()
	}
	return p.flow()
}

// flowList reads a list in brackets.
func (p *plain) flowList() *node {
	l, height := p.newNode(kindList), len(p.stack)
	for p.at++; ; {
		p.skipSpace()
		if p.peek() == ']' {
			p.at++
			return p.fill(l, height)
		}
		item := p.flow()
		if item == nil || !p.endItem(']') {
			return nil
		}
		p.stack = append(p.stack, item)
	}
}

// skipSpace moves to the next character, on this line or a later one.
func (p *plain) skipSpace() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ':
			p.at++
		case '\n':
			p.at++
			p.line++
			p.begun = p.at
		default:
			return
		}
	}
}

// endItem moves behind the comma after an item, or to the bracket that ends the list.
func (p *plain) endItem(end byte) bool {
	p.skipSpace()
	switch p.peek() {
	case ',':
		p.at++
		return true
	case end:
		return true
	}
	return false
}

// key reads the key of a mapping.
func (p *plain) key() *node {
	begun := p.at
	for isPlainPart[p.peek()] {
		p.at++
	}
	name, known := p.names[string(p.text[begun:p.at])]
	if known && p.peek() == ':' {
		n := p.newNode(kindScalar)
		n.value = name
		return n
	}
	p.at = begun
	n := p.scalar()
	if n != nil && isPlainBegin[p.text[begun]] && len(p.names) < plainNamesMax && !n.isNull {
		p.names[n.value] = n.value
	}
	return n
}

// scalar reads a text of one line, in quotes or not.
func (p *plain) scalar() *node {
	switch c := p.peek(); {
	case c == '"' || c == '\'':
		return p.quoted(c)
	case !isPlainBegin[c]:
		return nil
	}
	n, begun := p.newNode(kindScalar), p.at
	for p.at++; p.goesOn(); p.at++ {
	}
	n.value = string(p.text[begun:p.at])
	switch n.value {
	case "null", "Null", "NULL":
		n.isNull = true
	}
	return n
}

// goesOn reports whether the next byte belongs to a text without quotes. A colon and a blank do if more of the text follows.
func (p *plain) goesOn() bool {
	switch c := p.peek(); {
	case isPlainPart[c]:
		return true
	case c == ':' || c == ' ':
		return p.at+1 < len(p.text) && isPlainBegin[p.text[p.at+1]]
	}
	return false
}

// quoted reads a text in quotes of one kind. In one with an escape, or over several lines, nothing is plain.
func (p *plain) quoted(quote byte) *node {
	n := p.newNode(kindScalar)
	p.at++
	for begun := p.at; p.at < len(p.text); {
		switch c := p.text[p.at]; {
		case c == quote:
			n.value = string(p.text[begun:p.at])
			p.at++
			if next := p.peek(); next == quote {
				return nil // an escaped quote
			}
			return n
		case c == '\\' || !p.skipRune():
			return nil
		}
	}
	return nil
}

// isPlainBegin and isPlainPart have the bytes with which a text without quotes begins, and of which it consists. They are
// fewer than YAML has.
var (
	isPlainBegin = bytesOf("/_")
	isPlainPart  = bytesOf("/_.@+-")
)

// bytesOf returns the set of the letters and digits of ASCII, and some bytes more.
func bytesOf(more string) (set [256]bool) {
	for c := range utf8.RuneSelf {
		set[c] = unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
	}
	for _, c := range []byte(more) {
		set[c] = true
	}
	return set
}
