package access

import (
	"fmt"
	"slices"

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
func wrong(n *node, format string, args ...any) error {
	return &lineError{n.line, fmt.Sprintf(format, args...)}
}

// key is a key of a mapping, with what reads its value: a function, or, of a text that is not empty, where it goes and what
// names it in errors.
type key struct {
	name string
	read func(*node) error
	to   *string
	what string
}

// readMapping reads a mapping with known keys, each at most once. what names it in errors.
func readMapping(n *node, what string, keys ...key) error {
	if err := wantMapping(n, what); err != nil {
		return err
	}
	var seen firsts
	for i := 0; i+1 < len(n.content); i += 2 {
		if err := seen.check(n.content[:i+1], what); err != nil {
			return err
		}
		name, value := n.content[i], n.content[i+1]
		k := slices.IndexFunc(keys, func(k key) bool { return k.name == name.value })
		if k < 0 {
			return unknownKey(name, what, keys)
		}
		if err := keys[k].readValue(value); err != nil {
			return err
		}
	}
	return nil
}

// readValue reads the value of the key.
func (k *key) readValue(n *node) error {
	if k.read != nil {
		return k.read(n)
	}
	return readText(n, k.to, k.what)
}

// unknownKey returns the error of a key that is none of those known.
func unknownKey(name *node, what string, keys []key) error {
	var known []string
	for _, k := range keys {
		known = append(known, k.name)
	}
	return wrong(name, "the key %q of %s is unknown; %s", apierr.Clip(name.value), what, apierr.Advice(name.value, known, ""))
}

// wantMapping refuses what is no mapping. An empty value counts as an empty mapping.
func wantMapping(n *node, what string) error {
	if n.kind != kindMapping && !n.isNull {
		return wrong(n, "%s is %s; want a mapping of keys and values", what, kindOf(n))
	}
	return nil
}

// eachKey reads a mapping whose keys are names, each at most once.
func eachKey(n *node, what string, read func(name, value *node) error) error {
	if err := wantMapping(n, what); err != nil {
		return err
	}
	var seen firsts
	for i := 0; i+1 < len(n.content); i += 2 {
		if err := seen.check(n.content[:i+1], what); err != nil {
			return err
		}
		if err := read(n.content[i], n.content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// firsts finds keys that stand twice. A large file has tens of thousands of small mappings, for which a map each would cost
// more than all else. The zero value is ready.
type firsts struct{ names map[string]*node }

// firstsMany is how many keys a mapping has whose keys are found by a map.
const firstsMany = 16

// check refuses the last one of some keys, with their values between them, if it is no name or stands there already. It is
// called for each key of a mapping in turn.
func (f *firsts) check(keys []*node, what string) error {
	before, name := keys[:len(keys)-1], keys[len(keys)-1]
	if name.kind != kindScalar {
		return wrong(name, "a key of %s is %s; want a name", what, kindOf(name))
	}
	if first := f.of(name, before); first != nil {
		return wrong(name, "the key %q of %s stands on line %d already", apierr.Clip(name.value), what, first.line)
	}
	return nil
}

// of returns the key with the name of another one among those before it; nil if there is none.
func (f *firsts) of(name *node, before []*node) *node {
	if len(before) < 2*firstsMany {
		for i := 0; i < len(before); i += 2 {
			if before[i].value == name.value {
				return before[i]
			}
		}
		return nil
	}
	if f.names == nil {
		f.names = make(map[string]*node, 2*len(before))
		for i := 0; i < len(before); i += 2 {
			f.names[before[i].value] = before[i]
		}
	}
	first := f.names[name.value]
	f.names[name.value] = name
	return first
}

// eachItem reads a list. An empty value counts as an empty list.
func eachItem(n *node, what string, read func(*node) error) error {
	if n.isNull {
		return nil
	}
	if n.kind != kindList {
		return wrong(n, "%s is %s; want a list", what, kindOf(n))
	}
	for _, item := range n.content {
		if err := read(item); err != nil {
			return err
		}
	}
	return nil
}

// readText reads a text that is not empty.
func readText(n *node, to *string, what string) error {
	if n.kind != kindScalar || n.isNull || n.value == "" {
		return wrong(n, "%s is %s; want a text", what, kindOf(n))
	}
	*to = n.value
	return nil
}

// texts returns what reads a list of texts.
func texts(what string, add func(n *node, text string) error) func(*node) error {
	return func(n *node) error {
		return eachItem(n, what, func(item *node) error {
			var one string
			if err := readText(item, &one, "an item of "+what); err != nil {
				return err
			}
			return add(item, one)
		})
	}
}
