package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/carillon-io/carillon/client"
)

// The bounds of a look-up, for which a user waits at the prompt.
const (
	// More names than that do not help at a prompt.
	completeNamesMax = 50
	// The prompt stands still for that time if the server does not answer.
	completeTimeMax = 500 * time.Millisecond
)

// valuesOf returns the values of a flag or an argument: those of its enum, those that its tag complete lists or whose
// kind it names, or filesFit if the value is a file.
func valuesOf(v *kong.Value, lookUp func(valueKind) []candidate) (all []candidate) {
	kind := valueKind(v.Tag.Get("complete"))
	words := strings.Split(string(kind), ",")
	switch {
	case v.Enum != "":
		words = v.EnumSlice()
	case kind == files, v.Tag.Type == "path", slices.Contains([]string{"FILE", "DIR"}, v.Tag.PlaceHolder):
		return []candidate{{value: filesFit}}
	case strings.HasPrefix(string(kind), "@"):
		return lookUp(kind)
	case kind == "":
		return nil
	}
	for _, word := range words {
		all = append(all, candidate{value: word})
	}
	return all
}

// lookUp returns the values of a kind; none if they cannot be found quickly. An unknown kind has no values, so a
// typo in a tag costs a completion and nothing else.
func lookUp(ctx context.Context, con *console, l *line, kind valueKind) []candidate {
	switch kind {
	case contexts:
		return contextNames()
	case ownContexts:
		return candidates(savedContexts())
	case jobNames:
		return serversJobs(ctx, con, l)
	}
	return nil
}

// contextNames returns the contexts of 'carillon login' and those of the nats command. They come from directories and
// need no server.
func contextNames() (all []candidate) {
	names := savedContexts()
	if pattern, err := natsContextPath("*"); err == nil {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".json"))
		}
	}
	slices.Sort(names)
	return candidates(slices.Compact(names))
}

// candidates returns the first of some names.
func candidates(names []string) (all []candidate) {
	for _, name := range names[:min(len(names), completeNamesMax)] {
		all = append(all, candidate{value: name})
	}
	return all
}

// serversJobs returns the names of jobs with their schedules, from the server that the line and the environment
// select. It parses the server flags of the line as those of another command, so that variables and contexts count as
// they would for the finished line. It gives no caller's name, since reading names is no act to be audited.
func serversJobs(ctx context.Context, con *console, l *line) (all []candidate) {
	ctx, cancel := context.WithTimeout(ctx, completeTimeMax)
	defer cancel()
	// A grammar of its own: the one of the program is filled with the hidden command.
	grammar := &cli{}
	parser, err := newParser(grammar, con)
	if err != nil {
		return nil
	}
	if _, err := parser.Parse(append([]string{"status"}, l.server...)); err != nil {
		return nil
	}
	flags := grammar.Status.serverFlags
	flags.Timeout = span(completeTimeMax)
	r, err := flags.connectAs(ctx, "")
	if err != nil {
		return nil
	}
	defer r.close()
	prefix := l.last
	if l.value == nil && strings.HasPrefix(prefix, "--") {
		_, prefix, _ = strings.Cut(prefix, "=")
	}
	jobs := atMost(r.Jobs(ctx, client.ListRequest{Prefix: prefix, Limit: completeNamesMax}), completeNamesMax)
	for j, err := range jobs {
		if err != nil {
			break
		}
		all = append(all, candidate{j.Name, showSchedule(&j.Job)})
	}
	return all
}
