package access

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// readDocument reads the one YAML document of a file, which must not be empty. An error is a lineError.
func readDocument(text []byte) (root *node, err error) {
	if root = readPlain(text); root == nil {
		if root, err = readYAML(text); err != nil {
			return nil, err
		}
	}
	if root.isNull {
		return nil, &lineError{max(1, root.line), "the file has nothing but an empty document; want principals and tenants"}
	}
	return root, nil
}

// readYAML reads the one document of a file of any form.
func readYAML(text []byte) (*node, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var root, next yaml.Node
	switch err := d.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, &lineError{1, "the file is empty; want principals and tenants"}
	case err != nil:
		return nil, ofYAML(text, err)
	}
	switch err := d.Decode(&next); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, ofYAML(text, err)
	default:
		return nil, &lineError{max(1, next.Line), "a second document begins; want one"}
	}
	return ofLibrary(root.Content[0]), nil
}

// nodeKinds are the kinds of the library's nodes.
var nodeKinds = map[yaml.Kind]nodeKind{yaml.ScalarNode: kindScalar, yaml.MappingNode: kindMapping, yaml.SequenceNode: kindList, yaml.AliasNode: kindAlias}

// ofLibrary returns a node of the library.
func ofLibrary(n *yaml.Node) *node {
	to := &node{kind: nodeKinds[n.Kind], value: n.Value, line: n.Line, isNull: n.Kind == yaml.ScalarNode && n.Tag == "!!null"}
	for _, c := range n.Content {
		to.content = append(to.content, ofLibrary(c))
	}
	return to
}

// checkText refuses what is no text of YAML by its place: the parser says of it what it is, and not where.
func checkText(text []byte) error {
	const want = "; want a text file in UTF-8"
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &lineError{lineAt(text, at), "a byte is no UTF-8" + want}
		case unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r):
			return &lineError{lineAt(text, at), "a character is a control character, such as NUL" + want}
		}
		at += size
	}
	return nil
}

// lineAt returns the line of a place in a text, from 1.
func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

var (
	yamlLine   = regexp.MustCompile(`^line [0-9]+: `)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

// ofYAML returns an error of the parser of YAML, with a line, and with what would be right where it does not say so.
func ofYAML(text []byte, err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.Contains(message, "max depth") {
		message = yamlLine.FindString(message) + "lists and mappings are nested too deep; want principals and tenants, as in the documentation"
	}
	if anchor := yamlAnchor.FindStringSubmatch(message); anchor != nil {
		at := max(0, bytes.Index(text, []byte("*"+anchor[1])))
		return &lineError{lineAt(text, at), "*" + anchor[1] + " is an alias, which this file cannot have; write what it stands for"}
	}
	if yamlLine.MatchString(message) {
		return errors.New(message)
	}
	return &lineError{1, message} // of directives, which stand above all else
}
