package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// The bounds of one job of a file, because aliases can expand a small text to a large one.
const (
	// It also ends an alias that contains itself.
	nodeDepthMax = 100
	// A job is read from one line of an export too, so both have the same bound.
	nodeBytesMax = lineBytesMax
)

// readNodes reads the documents of a text: JSON values if all of it is JSON, else YAML. JSON is tried first because
// not every JSON text is YAML with the same meaning. Nodes are used instead of values because an error must name the
// line of a job, and because YAML would otherwise turn some texts into other types.
func readNodes(text []byte) ([]*yaml.Node, error) {
	if nodes, err := readJSONNodes(text); err == nil {
		return nodes, nil
	}
	var nodes []*yaml.Node
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nil, fmt.Errorf("is neither JSON nor YAML: %w (in YAML, a schedule such as '@daily' or '* * * * *' has to be in quotes)", err)
		}
		// An empty document is no job, and no mistake.
		if len(doc.Content) == 0 || doc.Content[0].ShortTag() == "!!null" {
			continue // nothing between two lines of ---
		}
		nodes = append(nodes, follow(doc.Content[0]))
	}
}

// follow returns the node that an alias refers to, or the node itself if it is no alias. It ends after nodeDepthMax
// steps, because an alias may refer to itself.
func follow(node *yaml.Node) *yaml.Node {
	for range nodeDepthMax {
		if node.Kind != yaml.AliasNode {
			break
		}
		node = node.Alias
	}
	return node
}

// readJSONNodes reads JSON values as nodes of YAML.
func readJSONNodes(text []byte) (nodes []*yaml.Node, err error) {
	r := &jsonNodes{text: text, dec: jsontext.NewDecoder(bytes.NewReader(text)), line: 1}
	for {
		node, err := r.read()
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
}

// jsonNodes reads JSON and gives each node its line. It lets JSON and YAML share everything behind it. Lines are
// counted once, while the text is read from the beginning to the end.
type jsonNodes struct {
	// text is the whole input, which the lines are counted in.
	text   []byte
	dec    *jsontext.Decoder
	offset int64 // up to which the lines were counted
	line   int
}

// read reads one value with all that is in it. The depth of JSON is bounded by the decoder.
func (r *jsonNodes) read() (*yaml.Node, error) {
	token, err := r.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	end := r.dec.InputOffset()
	r.line += bytes.Count(r.text[r.offset:end], []byte{'\n'})
	r.offset = end
	node := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line, Value: token.String()}
	switch token.Kind() {
	case '{', '[':
		// The kind of the token would be the node's text, which only a scalar has.
		node.Kind, node.Value = yaml.MappingNode, ""
		if token.Kind() == '[' {
			node.Kind = yaml.SequenceNode
		}
		// The decoder has checked that keys and values take turns, so keys are children like values.
		for k := r.dec.PeekKind(); k != '}' && k != ']'; k = r.dec.PeekKind() {
			child, err := r.read()
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, child)
		}
		_, err = r.dec.ReadToken()
	case '"':
		node.Tag = "!!str"
	case '0':
		node.Tag = "!!float"
	case 'n':
		node.Tag = "!!null"
	default:
		node.Tag = "!!bool"
	}
	return node, err
}

// appendNode appends a node as JSON. Duplicate keys, merges and values that JSON does not have are errors.
func appendNode(b []byte, node *yaml.Node, depth int) ([]byte, error) {
	node = follow(node)
	if depth > nodeDepthMax || len(b) > nodeBytesMax {
		return nil, &nodeError{node.Line, fmt.Sprintf("the job is deeper than %d levels, or has more than %d bytes", nodeDepthMax, nodeBytesMax)}
	}
	switch node.Kind {
	case yaml.MappingNode:
		return appendMapping(b, node, depth)
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, item := range node.Content {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendNode(b, item, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	return appendScalar(b, node)
}

// appendMapping appends an object. Keys must be plain texts, and each can be there once. A key that occurs twice is
// refused because YAML and JSON libraries disagree about which one wins.
func appendMapping(b []byte, node *yaml.Node, depth int) (_ []byte, err error) {
	b = append(b, '{')
	seen := make(map[string]bool, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := follow(node.Content[i])
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, &nodeError{key.Line, "a key must be a text"}
		// A merge would hide which members a job has, and could make a name occur twice.
		case key.ShortTag() == "!!merge":
			return nil, &nodeError{key.Line, "merging (<<) is not taken; write the keys out"}
		case seen[key.Value]:
			return nil, &nodeError{key.Line, fmt.Sprintf("%s: the key occurs twice", clip(key.Value))}
		}
		seen[key.Value] = true
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = jsontext.AppendQuote(b, key.Value); err != nil {
			return nil, &nodeError{key.Line, "the key is not UTF-8"}
		}
		if b, err = appendNode(append(b, ':'), node.Content[i+1], depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendScalar appends a scalar by its YAML type. A timestamp, which JSON does not have, becomes a string. A schedule
// that YAML takes for a date stays the text that was written.
func appendScalar(b []byte, node *yaml.Node) ([]byte, error) {
	var err error
	switch node.ShortTag() {
	case "!!null":
		return append(b, "null"...), nil
	case "!!bool":
		// YAML takes True and TRUE for the same value.
		return append(b, strings.ToLower(node.Value)...), nil
	case "!!int", "!!float":
		b, err = appendYAMLNumber(b, node)
	case "!!str", "!!timestamp":
		// The text as it was written, and not the time that YAML reads in it.
		b, err = jsontext.AppendQuote(b, node.Value)
	default:
		err = fmt.Errorf("%s: a value of this kind cannot stand in a job", clip(node.Tag))
	}
	if err != nil {
		return nil, &nodeError{node.Line, err.Error()}
	}
	return b, nil
}

// appendYAMLNumber appends a number, digit by digit as it stands if that is JSON, else converted. The digits are kept,
// because a payload with 64-bit numbers must not lose any.
func appendYAMLNumber(b []byte, node *yaml.Node) ([]byte, error) {
	if v := jsontext.Value(node.Value); v.IsValid() && v.Kind() == '0' {
		return append(b, node.Value...), nil
	}
	var n int64
	if node.Decode(&n) == nil && node.ShortTag() == "!!int" {
		return strconv.AppendInt(b, n, 10), nil
	}
	var f float64
	// The difference is not 0 for infinities and for values that are no number.
	if err := node.Decode(&f); err != nil || f-f != 0 {
		return nil, fmt.Errorf("%s is no number that JSON knows; put it in quotes if it is a text", clip(node.Value))
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64), nil
}
