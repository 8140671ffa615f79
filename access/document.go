package access

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/carillon-io/carillon/apierr"
)

// lineError is a fault of the file, and where it is.
type lineError struct {
	line    int
	message string
}

// Error implements error.
func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

// wrong returns the error of a part of the file.
func wrong(n *yaml.Node, format string, args ...any) error {
	return &lineError{n.Line, fmt.Sprintf(format, args...)}
}

// key is a key of a mapping, with what reads its value.
type key struct {
	name string
	read func(*yaml.Node) error
}

// readMapping reads a mapping with known keys, each at most once. what names it in errors.
func readMapping(n *yaml.Node, what string, keys ...key) error {
	return eachKey(n, what, func(name, value *yaml.Node) error {
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name.Value })
		if i < 0 {
			var known []string
			for _, k := range keys {
				known = append(known, k.name)
			}
			return wrong(name, "the key %q of %s is unknown; %s", apierr.Clip(name.Value), what, apierr.Advice(name.Value, known, ""))
		}
		return keys[i].read(value)
	})
}

// eachKey reads a mapping whose keys are names, each at most once. An empty value counts as an empty mapping.
func eachKey(n *yaml.Node, what string, read func(name, value *yaml.Node) error) error {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return wrong(n, "%s is %s; want a mapping of keys and values", what, kindOf(n))
	}
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if name.Kind != yaml.ScalarNode {
			return wrong(name, "a key of %s is %s; want a name", what, kindOf(name))
		}
		if line, twice := seen[name.Value]; twice {
			return wrong(name, "the key %q of %s stands on line %d already", apierr.Clip(name.Value), what, line)
		}
		seen[name.Value] = name.Line
		if err := read(name, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// eachItem reads a list. An empty value counts as an empty list.
func eachItem(n *yaml.Node, what string, read func(*yaml.Node) error) error {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return wrong(n, "%s is %s; want a list", what, kindOf(n))
	}
	for _, item := range n.Content {
		if err := read(item); err != nil {
			return err
		}
	}
	return nil
}

// text returns what reads a text that is not empty.
func text(to *string, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || isNull(n) || n.Value == "" {
			return wrong(n, "%s is %s; want a text", what, kindOf(n))
		}
		*to = n.Value
		return nil
	}
}

// texts returns what reads a list of texts.
func texts(what string, add func(n *yaml.Node, text string) error) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		return eachItem(n, what, func(item *yaml.Node) error {
			var one string
			if err := text(&one, "an item of "+what)(item); err != nil {
				return err
			}
			return add(item, one)
		})
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// kindOf names the kind of a node in errors. An alias is refused like any wrong kind: a file of rights says each thing
// where it holds.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias, which this file cannot have"
	case isNull(n) || n.Value == "":
		return "empty"
	default:
		return fmt.Sprintf("%q", apierr.Clip(n.Value))
	}
}
