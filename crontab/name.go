package crontab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
)

// The lengths in bytes of the parts of a name. With its hash a name has at most 114 bytes, and the number of a repeated
// entry. Longer parts would come near the longest name that a job may have; in shorter ones, more programs would look
// the same to a reader, though the hash would still distinguish them.
const (
	fileBytesMax = 64
	wordBytesMax = 40
)

// Names names the entries of one crontab, such as backup/rsync-1f0c9a3e. A name is stable: it depends on what a line
// runs and not on when, so a crontab that is read again gives the same names, and a changed schedule keeps its name. It is
// unique in the crontab. Not for concurrent use.
//
// The line number is no part of a name: a line that is inserted would rename all jobs below it. The schedule is no part
// of it either: a new schedule is to change the job, not to replace it by another one without a history.
type Names struct {
	file string         // see File
	host string         // whose jobs they are; "": of no machine
	seen map[string]int // how often Next has made each name, without a number
}

// NewNames returns the names for the entries of the crontab at a path, of which only the last element counts.
func NewNames(file string) *Names {
	return &Names{file: token(path.Base(file), fileBytesMax, "crontab"), seen: map[string]int{}}
}

// NewMachineNames returns the names for the entries of the crontab at a path whose jobs are for one machine: the hash is of its host
// token too, so that the same line on two machines is two jobs.
func NewMachineNames(file, host string) *Names {
	n := NewNames(file)
	n.host = host
	return n
}

// File returns the part of every name that stands for the crontab, as a token (see Entry.Program).
func (n *Names) File() string { return n.file }

// Next returns the name of the next entry. Call it once for each entry, in the order of the lines: further entries that
// run the same get -2, -3 and so on at the end. If one of two equal lines is removed, the other has the name without a
// number, whichever it is; both run the same, so that job only gets the schedule of the line that stays.
func (n *Names) Next(e *Entry) string {
	hash := e.Hash()
	if n.host != "" {
		hash = shortHash(n.host, e.User, e.Command, e.Stdin)
	}
	name := fmt.Sprintf("%s/%s-%s", n.file, e.Program(), hash)
	n.seen[name]++
	if count := n.seen[name]; count > 1 {
		name = fmt.Sprintf("%s-%d", name, count)
	}
	return name
}

// Hash returns eight hexadecimal digits that identify what the entry runs: its user, command and standard input.
func (e *Entry) Hash() string { return shortHash(e.User, e.Command, e.Stdin) }

// shortHash returns eight hexadecimal digits that identify texts. The zero bytes between them keep two entries apart that differ only
// in where one text ends. Thirty-two bits are enough for the lines of one crontab; if two of them do collide, Next numbers the second.
func shortHash(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// Program returns the program that the command begins with, without its directory, as a token: one to 40 letters,
// digits, dashes and underscores, so that it can be part of a NATS subject. It is "command" if nothing of it is left.
func (e *Entry) Program() string {
	word := path.Base(firstWord(e.Command))
	if word == "[" {
		word = "test" // another name of the same program
	}
	return token(word, wordBytesMax, "command")
}

// UserToken returns the user as a token (see Program), or "none" in a user's own crontab.
func (e *Entry) UserToken() string { return token(e.User, wordBytesMax, "none") }

// HostToken returns the name of a machine as a token (see Entry.Program): the first part of it, or "localhost" if nothing of
// it is left. An import and a worker on one machine agree by it.
func HostToken(name string) string {
	first, _, _ := strings.Cut(name, ".")
	return token(first, wordBytesMax, "localhost")
}

// firstWord returns the first word of a shell command after any assignments before it. It is a guess for a readable
// name and no parser of shell: what it misses, such as a pipe or an if, makes the name less telling and nothing else.
func firstWord(command string) string {
	word, rest := cutField(command)
	for rest != "" {
		name, _, found := strings.Cut(word, "=")
		if !found || !isVariable(name) {
			break
		}
		word, rest = cutField(rest)
	}
	if word != "" && (word[0] == '"' || word[0] == '\'') {
		text := word[1:] + " " + rest
		if end := strings.IndexByte(text, word[0]); end >= 0 {
			return text[:end]
		}
	}
	return word
}

// token keeps the letters, digits and underscores of s, up to bytesMax bytes. A run of other bytes becomes one dash; if
// nothing is left, the result is the fallback. Dots go too, because a dot would split the token of a NATS subject in
// two.
func token(s string, bytesMax int, fallback string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			b.WriteByte(c)
		case b.Len() > 0 && b.String()[b.Len()-1] != '-':
			b.WriteByte('-')
		}
		if b.Len() == bytesMax {
			break
		}
	}
	if out := strings.Trim(b.String(), "-"); out != "" {
		return out
	}
	return fallback
}
