package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
)

// The lengths of the parts of a job's name, which stay below the bound of a whole one together.
const (
	fileSlugMax    = 64
	commandSlugMax = 40
)

// cronNames makes the names of the jobs of one crontab: stable, so that importing the file again
// updates its jobs instead of doubling them, and unique in the file. What a line runs decides its name and
// when it runs does not, so that a changed time is an update too.
type cronNames struct {
	file string
	seen map[string]int
}

func newCronNames(file string) *cronNames {
	return &cronNames{file: slug(path.Base(file), fileSlugMax, "crontab"), seen: map[string]int{}}
}

// next returns the name of the file's next entry. Equal commands get -2, -3 and so on, in the order
// of their lines.
func (n *cronNames) next(e *cronEntry) string {
	name := fmt.Sprintf("%s/%s-%s", n.file, commandSlug(e.command), commandHash(e))
	n.seen[name]++
	if count := n.seen[name]; count > 1 {
		name = fmt.Sprintf("%s-%d", name, count)
	}
	return name
}

// commandHash is a short hash of what an entry runs.
func commandHash(e *cronEntry) string {
	sum := sha256.Sum256([]byte(e.user + "\x00" + e.command + "\x00" + e.stdin))
	return hex.EncodeToString(sum[:4])
}

// commandSlug is the program that a command begins with, as a part of a name.
func commandSlug(command string) string {
	word := path.Base(firstWord(command))
	if word == "[" {
		word = "test" // which is the same program
	}
	return slug(word, commandSlugMax, "command")
}

// firstWord returns the first word of a shell command after any assignments before it.
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

// slug makes s a token of a subject and of a name: letters, digits, - and _. Runs of anything else
// become one dash; what has none of them becomes the fallback.
func slug(s string, most int, fallback string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			b.WriteByte(c)
		case b.Len() > 0 && b.String()[b.Len()-1] != '-':
			b.WriteByte('-')
		}
		if b.Len() == most {
			break
		}
	}
	if out := strings.Trim(b.String(), "-"); out != "" {
		return out
	}
	return fallback
}
