package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// candidate is something that fits in the place of a word.
type candidate struct{ value, help string }

// filesFit is what a shell is told in the place of the names of files, which it knows better.
const filesFit = ":files"

// valueKind is what a value is, as its tag complete says: a list of words with commas, or one of these.
type valueKind string

const (
	jobNames valueKind = "@jobs"
	files    valueKind = "@files"
	contexts valueKind = "@contexts"
)

// line is a command line up to the cursor, as far as it says what may follow.
type line struct {
	node   *kong.Node
	server []string   // flags that say which server, each one word
	value  *kong.Flag // whose value the last word is; nil: none
	args   int        // positional arguments before the last word
	rest   bool       // after --
	last   string
}

// readLine reads the words of a line; the last is the one to be completed, perhaps empty.
func readLine(root *kong.Node, words []string) *line {
	l := &line{node: root}
	words = joinEquals(words)
	for _, word := range words[:len(words)-1] {
		l.read(word)
	}
	l.last = words[len(words)-1]
	return l
}

// joinEquals puts together what bash takes apart: --output = json is one word.
func joinEquals(words []string) (joined []string) {
	for i, word := range words {
		afterEquals := i > 0 && words[i-1] == "=" && len(joined) > 0 && strings.HasSuffix(joined[len(joined)-1], "=")
		if n := len(joined); n > 0 && (afterEquals || word == "=" && strings.HasPrefix(joined[n-1], "--")) {
			joined[n-1] += word
			continue
		}
		joined = append(joined, word)
	}
	return joined
}

// read takes a word in that is complete.
func (l *line) read(word string) {
	switch {
	case l.value != nil:
		l.keep(l.value, word)
		l.value = nil
	case word == "--":
		l.rest = true
	case !l.rest && strings.HasPrefix(word, "-") && word != "-":
		l.readFlag(word)
	default:
		l.readArgument(word)
	}
}

func (l *line) readFlag(word string) {
	flag, value, hasValue := l.flag(word)
	switch {
	case flag == nil:
	case hasValue:
		l.keep(flag, value)
	case flag.IsBool():
		l.keep(flag, "true")
	default:
		l.value = flag
	}
}

// keep notes a flag that is complete, if it says which server.
func (l *line) keep(flag *kong.Flag, value string) {
	if isServerFlag(flag) {
		l.server = append(l.server, "--"+flag.Name+"="+value)
	}
}

func (l *line) readArgument(word string) {
	for _, child := range l.node.Children {
		if l.args == 0 && (child.Name == word || slices.Contains(child.Aliases, word)) {
			l.node = child
			return
		}
	}
	l.args++
}

// flag returns the flag that a word begins with, and its value if that stands in the word too.
func (l *line) flag(word string) (_ *kong.Flag, value string, hasValue bool) {
	name, value, hasValue := strings.Cut(word, "=")
	for _, flag := range l.allFlags() {
		if name == "--"+flag.Name {
			return flag, value, hasValue
		}
		rest, found := strings.CutPrefix(word, "-"+string(flag.Short))
		if found && flag.Short != 0 && !strings.HasPrefix(word, "--") {
			return flag, rest, rest != ""
		}
	}
	return nil, "", false
}

// allFlags are those that may stand here.
func (l *line) allFlags() (all []*kong.Flag) {
	node := l.node
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	for _, group := range node.AllFlags(true) {
		all = append(all, group...)
	}
	return all
}

// candidates returns what fits in the place of the last word. LookUp finds values that are not known
// beforehand.
func (l *line) candidates(lookUp func(valueKind) []candidate) []candidate {
	if l.value != nil {
		return matching(valuesOf(l.value.Value, lookUp), "", l.last)
	}
	if name, _, isValue := strings.Cut(l.last, "="); isValue && strings.HasPrefix(name, "--") {
		if flag, _, _ := l.flag(name); flag != nil {
			return matching(valuesOf(flag.Value, lookUp), name+"=", l.last)
		}
		return nil
	}
	if !l.rest && strings.HasPrefix(l.last, "-") {
		return matching(l.flagNames(), "", l.last)
	}
	return matching(append(l.commands(), l.arguments(lookUp)...), "", l.last)
}

// matching returns what begins as the last word does, each with what stands before it in that word.
func matching(all []candidate, head, last string) (found []candidate) {
	for _, c := range all {
		if c.value != filesFit {
			c.value = head + c.value
		}
		if c.value == filesFit || strings.HasPrefix(c.value, last) {
			found = append(found, c)
		}
	}
	return found
}

func (l *line) flagNames() (all []candidate) {
	for _, flag := range l.allFlags() {
		all = append(all, candidate{"--" + flag.Name, flag.Help})
		if flag.Tag.Negatable != "" {
			all = append(all, candidate{"--no-" + flag.Name, "Not: " + flag.Help})
		}
	}
	return all
}

// commands are those below the one that the line has come to.
func (l *line) commands() (all []candidate) {
	if l.args > 0 || l.rest {
		return nil
	}
	for _, child := range l.node.Children {
		if !child.Hidden {
			all = append(all, candidate{child.Name, child.Help})
		}
	}
	return all
}

// arguments are the values of the positional argument that the last word is.
func (l *line) arguments(lookUp func(valueKind) []candidate) []candidate {
	all := l.node.Positional
	switch {
	case l.args < len(all):
		return valuesOf(all[l.args], lookUp)
	case len(all) > 0 && all[len(all)-1].IsCumulative():
		return valuesOf(all[len(all)-1], lookUp)
	}
	return nil
}
