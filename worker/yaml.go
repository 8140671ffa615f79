package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// wrong returns the error of a part of the allow file.
func wrong(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...))
}

// parseDocument reads the one document of a file.
func parseDocument(text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	switch err := d.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("line 1: the file is empty; want crontabs or commands")
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file has several documents; want one")
	}
	return root.Content[0], nil
}

// key is a key of a mapping, with what reads its value.
type key struct {
	name string
	read func(*yaml.Node) error
}

// readKeys reads a mapping of known keys, each at most once. what names it in errors.
func readKeys(n *yaml.Node, what string, keys ...key) error {
	return eachPair(n, what, func(name, value *yaml.Node) error {
		for _, k := range keys {
			if k.name == name.Value {
				return k.read(value)
			}
		}
		var known []string
		for _, k := range keys {
			known = append(known, k.name)
		}
		return wrong(name, "the key %q of %s is unknown; want %s", clip(name.Value), what, strings.Join(known, ", "))
	})
}

// eachPair reads a mapping.
func eachPair(n *yaml.Node, what string, read func(name, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return wrong(n, "%s is %s; want a mapping of keys and values", what, kindOf(n))
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		switch {
		case name.Kind != yaml.ScalarNode:
			return wrong(name, "a key of %s is %s; want a name", what, kindOf(name))
		case slices.Contains(seen, name.Value):
			return wrong(name, "the key %q of %s is there twice", clip(name.Value), what)
		}
		seen = append(seen, name.Value)
		if err := read(name, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// eachItem reads a list.
func eachItem(n *yaml.Node, what string, read func(*yaml.Node) error) error {
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

// text returns what reads a text that is not empty and has no zero byte.
func text(to *string, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" {
			return wrong(n, "%s is %s; want a text", what, kindOf(n))
		}
		if strings.ContainsRune(n.Value, 0) {
			return wrong(n, "%s has a zero byte, which no command can have", what)
		}
		*to = n.Value
		return nil
	}
}

// number returns what reads an integer from low to high.
func number(to *int, what string, low, high int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || v < low || v > high {
			return wrong(n, "%s is %s; want a number from %d to %d", what, kindOf(n), low, high)
		}
		*to = v
		return nil
	}
}

// truth returns what reads true or false.
func truth(to **bool, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
			return wrong(n, "%s is %s; want true or false", what, kindOf(n))
		}
		is := n.Value == "true"
		*to = &is
		return nil
	}
}

// kindOf names the value of a node in errors. An alias is refused like any wrong kind.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias, which this file cannot have"
	case n.Tag == "!!null" || n.Value == "":
		return "empty"
	}
	return strconv.Quote(clip(n.Value))
}

// clip shortens a text for a message.
func clip(s string) string {
	const bytesMax = 80
	if len(s) <= bytesMax {
		return s
	}
	return strings.ToValidUTF8(s[:bytesMax], "") + "…"
}
