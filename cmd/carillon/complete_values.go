package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/carillon-io/carillon/schedule"
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
	case zones:
		return zoneNames(l.prefix())
	case members:
		return memberHeads(l.prefix())
	}
	return serversValues(ctx, con, l, kind)
}

// zoneNames returns the timezones with a prefix. They are those of this program, and need no server.
func zoneNames(prefix string) (all []candidate) {
	for _, name := range schedule.ZoneNames() {
		if strings.HasPrefix(name, prefix) {
			all = append(all, candidate{value: name})
		}
	}
	return all
}

// memberHeads returns the members of a job that can be set, each with the equal sign before its value; none once there is
// one.
func memberHeads(prefix string) (all []candidate) {
	if strings.Contains(prefix, "=") {
		return nil
	}
	for _, name := range memberNames() {
		all = append(all, candidate{value: name + "="})
	}
	return all
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
