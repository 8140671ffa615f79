package access

import (
	"unicode"
	"unicode/utf8"
)

// Bounds of the plain form. A file beyond them is read by the library, which has its own.
const (
	plainDepthMax    = 16
	plainKeyBytesMax = 256 // the library takes no longer text for a key than 1,024 characters
	plainSlab        = 512 // nodes that are allocated together
	plainNamesMax    = 64  // names of keys that share their text
)

// plain reads YAML in the form in which files of rights are written: mappings and lists, by indentation or in braces and
// brackets, and scalars of one line, plain or in quotes without escapes. It makes the nodes that the library makes, as far
// as this package looks at them: kind, value, line, and whether it is null. Of everything else it makes nothing: the
// library reads such a text from its beginning, and says what is wrong with it. So each check and each line is the same
// either way, and a large file in the plain form is read about ten times faster.
//
// Invariant: at the begin of a line with content, column is its indentation, and at is behind that. At the end of the text
// column is -1.
type plain struct {
	text   []byte
	at     int
	line   int // from 1
	begun  int // where the line begins
	column int
	depth  int

	nodes []node            // that are free
	rooms []*node           // for content, that are free
	stack []*node           // content of what is not read to its end yet
	names map[string]string // of keys, so that the same names share their text
}

// readPlain returns the root of a document in the plain form; nil if it has another one, or is empty.
func readPlain(text []byte) *node {
	p := &plain{text: text, line: 1, names: make(map[string]string)}
	if !p.toContent() || p.column < 0 {
		return nil
	}
	root := p.block()
	if root == nil || p.column >= 0 {
		return nil
	}
	return root
}

// peek returns the next byte; a line end at the end of the text.
func (p *plain) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return '\n'
}

// newNode returns a node that begins here.
func (p *plain) newNode(kind nodeKind) *node {
	if len(p.nodes) == 0 {
		p.nodes = make([]node, plainSlab)
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	n.kind, n.line = kind, p.line
	return n
}

// fill gives a node its content: what is on the stack from a height on.
func (p *plain) fill(n *node, height int) *node {
	count := len(p.stack) - height
	if count > len(p.rooms) {
		p.rooms = make([]*node, max(count, plainSlab))
	}
	n.content, p.rooms = p.rooms[:count:count], p.rooms[count:]
	copy(n.content, p.stack[height:])
	p.stack = p.stack[:height]
	return n
}

// newNull returns the node of a value that is left out.
func (p *plain) newNull() *node {
	n := p.newNode(kindScalar)
	n.isNull = true
	return n
}

// toContent moves from the begin of a line to the next content. It reports whether all until there is plain.
func (p *plain) toContent() bool {
	for p.at < len(p.text) {
		p.begun = p.at
		p.skipBlanks()
		if c := p.peek(); c != '\n' && c != '#' {
			p.column = p.at - p.begun
			return true
		}
		if !p.skipComment() {
			return false
		}
	}
	p.column = -1
	return true
}

func (p *plain) skipBlanks() {
	for p.peek() == ' ' {
		p.at++
	}
}

// skipComment moves behind the end of the line, before which there is nothing but a comment.
func (p *plain) skipComment() bool {
	for p.at < len(p.text) && p.text[p.at] != '\n' {
		if !p.skipRune() {
			return false
		}
	}
	p.at++
	p.line++
	return true
}

// skipRune moves behind a character that is no line end to the library either: it takes some of Unicode for one.
func (p *plain) skipRune() bool {
	r, size := rune(p.text[p.at]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRune(p.text[p.at:])
	}
	p.at += size
	return r != utf8.RuneError && unicode.IsPrint(r)
}

// endLine moves to the next content. The rest of this line must be blank or a comment behind a blank.
func (p *plain) endLine() bool {
	behind := p.at
	p.skipBlanks()
	switch c := p.peek(); {
	case c == '\n', c == '#' && p.at > behind:
		return p.skipComment() && p.toContent()
	}
	return false
}

// deeper counts what is nested, and reports whether that is too deep. The caller takes one off the depth at its end.
func (p *plain) deeper() bool {
	p.depth++
	return p.depth <= plainDepthMax
}

// block reads what begins with a line.
func (p *plain) block() *node {
	defer func() { p.depth-- }()
	switch {
	case !p.deeper():
		return nil
	case p.isDash():
		return p.blockList(p.column)
	}
	return p.inline(p.column)
}

// inline reads what begins within or with a line, and may be a mapping, whose keys then begin in this column.
func (p *plain) inline(column int) *node {
	n := p.flow()
	switch {
	case n == nil:
		return nil
	case n.kind == kindScalar && p.peek() == ':':
		return p.blockMapping(n, column)
	case !p.endLine():
		return nil
	}
	return n
}

// blockMapping reads a mapping by indentation, behind its first key.
func (p *plain) blockMapping(key *node, column int) *node {
	m, height := p.newNode(kindMapping), len(p.stack)
	for {
		if len(key.value) > plainKeyBytesMax || p.peek() != ':' {
			return nil
		}
		p.at++
		if c := p.peek(); c != ' ' && c != '\n' {
			return nil
		}
		value := p.blockValue(column)
		if value == nil || p.column > column {
			return nil
		}
		if p.stack = append(p.stack, key, value); p.column < column {
			return p.fill(m, height)
		}
		if key = p.key(); key == nil {
			return nil
		}
	}
}

// blockValue reads what follows a key and its colon. A list may have the indentation of the key.
func (p *plain) blockValue(column int) *node {
	if p.isLineOver() {
		return p.below(func() bool { return p.column > column || p.column == column && p.isDash() })
	}
	n := p.flow()
	if n == nil || !p.endLine() {
		return nil
	}
	return n
}

// blockList reads a list by indentation.
func (p *plain) blockList(column int) *node {
	l, height := p.newNode(kindList), len(p.stack)
	for p.column == column && p.isDash() {
		p.at++
		item := p.blockItem(column)
		if item == nil || p.column > column {
			return nil
		}
		p.stack = append(p.stack, item)
	}
	return p.fill(l, height)
}

// blockItem reads what follows the dash of an item.
func (p *plain) blockItem(column int) *node {
	if p.isLineOver() {
		return p.below(func() bool { return p.column > column })
	}
	return p.inline(p.at - p.begun)
}

// below reads the block below a key or a dash, if there is one, and returns null otherwise.
func (p *plain) below(isThere func() bool) *node {
	null := p.newNull()
	switch {
	case !p.endLine():
		return nil
	case isThere():
		return p.block()
	}
	return null
}

// isDash reports whether an item of a list begins here.
func (p *plain) isDash() bool {
	if p.peek() != '-' {
		return false
	}
	p.at++
	c := p.peek()
	p.at--
	return c == ' ' || c == '\n'
}

// isLineOver moves to the next character of the line, and reports whether there is none but those of a comment.
func (p *plain) isLineOver() bool {
	behind := p.at
	p.skipBlanks()
	if c := p.peek(); c != '\n' && c != '#' {
		return false
	}
	p.at = behind
	return true
}
