package worker

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// outputBytesMax is how much of the end of a command's output is kept, for the log.
const outputBytesMax = 8 << 10

// tail keeps the end of what is written to it. The zero value is empty. Safe for concurrent use.
type tail struct {
	mu    sync.Mutex
	kept  []byte
	total int64
}

// Write keeps p, or its end. It never fails, so that a command is never ended by a full pipe.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += int64(n)
	if n > outputBytesMax {
		p = p[n-outputBytesMax:]
	}
	if over := len(t.kept) + len(p) - outputBytesMax; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// size returns how many bytes were written.
func (t *tail) size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// text returns the end of the output, at most bytesMax bytes of valid UTF-8 without blanks around it. Control characters
// other than line ends and tabs become question marks, because the text is shown on terminals.
func (t *tail) text(bytesMax int) string {
	t.mu.Lock()
	text := string(t.kept)
	t.mu.Unlock()
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\r\n", "\n")
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, text))
	return lastBytes(text, bytesMax)
}

// lastBytes returns the end of a text, at most bytesMax bytes, and cuts no character in half.
func lastBytes(text string, bytesMax int) string {
	if len(text) <= bytesMax {
		return text
	}
	text = text[len(text)-bytesMax:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}
