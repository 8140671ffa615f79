package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// candidate is a possible completion of a word, with a help text for the shell.
type candidate struct{ value, help string }

// filesFit asks the shell to complete the names of files itself. The completion scripts of the shells know the
// word.
const filesFit = ":files"

// valueKind is the tag complete of a flag or an argument: a list of words with commas, or one of the kinds below.
type valueKind string

const (
	// The kinds begin with an at sign, which no listed word does.
	jobNames      valueKind = "@jobs"
	jobLabels     valueKind = "@labels" // as KEY=VALUE
	calendarNames valueKind = "@calendars"
	nodeNames     valueKind = "@nodes"
	shardNumbers  valueKind = "@shards"
	liveRuns      valueKind = "@live-runs" // those that are not over
	deadRuns      valueKind = "@dead-runs"
	anyRuns       valueKind = "@runs"
	zones         valueKind = "@zones"
	files         valueKind = "@files"
	members       valueKind = "@members" // of a job, as MEMBER=
	contexts      valueKind = "@contexts"
	// ownContexts are those of 'carillon login' alone.
	ownContexts valueKind = "@own-contexts"
)

// line is the part of a command line before the cursor, as far as completion needs it. It reads an unfinished line,
// which the parser of the commands would refuse.
type line struct {
	node   *kong.Node
	server []string   // flags that select a server, each as one word
	value  *kong.Flag // flag whose value the last word is; nil: none
	args   int        // positional arguments before the last word
	rest   bool       // a -- came: no flags follow
	last   string     // word to be completed
}

// readLine reads the words of a line. The last word is the one to be completed and can be empty; there is at least
// one. An unknown word is passed over, so that one typo does not end all completion.
func readLine(root *kong.Node, words []string) *line {
	l := &line{node: root}
	words = joinEquals(words)
	if len(words) > 1 && words[0] == "help" { // it stands for --help, see asCommand
		words = words[1:]
	}
	for _, word := range words[:len(words)-1] {
		l.read(word)
	}
	l.last = words[len(words)-1]
	return l
}

// joinEquals joins what bash splits at equal signs: the words --output, = and json become one, and so do team, = and a.
// Bash treats the equal sign as a separator of words (COMP_WORDBREAKS); zsh and fish do not.
func joinEquals(words []string) (joined []string) {
	for i, word := range words {
		afterEquals := i > 0 && words[i-1] == "=" && len(joined) > 0 && strings.HasSuffix(joined[len(joined)-1], "=")
		if n := len(joined); n > 0 && (afterEquals || word == "=") {
			joined[n-1] += word
			continue
		}
		joined = append(joined, word)
	}
	return joined
}

// read processes a word before the last one.
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

// readFlag processes a word that is a flag. A flag that wants a value and has none in the word takes the next word.
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

// keep records a flag and its value if the flag selects a server. The values are needed to ask the server that the
// finished command would ask.
func (l *line) keep(flag *kong.Flag, value string) {
	if isServerFlag(flag) {
		l.server = append(l.server, "--"+flag.Name+"="+value)
	}
}

// readArgument processes a word that is no flag: a subcommand, unless an argument came before, or an argument.
func (l *line) readArgument(word string) {
	for _, child := range l.node.Children {
		if l.args == 0 && (child.Name == word || slices.Contains(child.Aliases, word)) {
			l.node = child
			return
		}
	}
	l.args++
}

// flag returns the flag that a word begins with, and its value if the word contains one. It returns nil if there is none.
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

// allFlags returns the flags that are valid at the cursor. A group with a default command takes the flags of that
// command, so backup -o completes like backup take -o.
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

// candidates returns the completions of the last word. LookUp finds values that the grammar does not contain. It never
// connects by itself: only lookUp may.
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

// matching returns the candidates that begin like the last word, each with head, the part of the word before it.
// filesFit is kept whatever was typed, because the shell itself compares the names of files.
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

// flagNames returns the long names of the flags that are valid at the cursor, with --no- before those that can be
// negated.
func (l *line) flagNames() (all []candidate) {
	for _, flag := range l.allFlags() {
		all = append(all, candidate{"--" + flag.Name, flag.Help})
		if flag.Tag.Negatable != "" {
			all = append(all, candidate{"--no-" + flag.Name, "Not: " + flag.Help})
		}
	}
	return all
}

// commands returns the subcommands of the command at the cursor.
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

// arguments returns the values of the positional argument at the cursor.
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
