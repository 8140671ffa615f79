package main

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// outputForm is the format in which a command prints. The words are part of the command line and of CARILLON_OUTPUT.
type outputForm string

const (
	// Only the two others are stable: columns of a table may be added, moved and cut.
	formTable outputForm = "table"
	formJSON  outputForm = "json"
	formYAML  outputForm = "yaml"
)

// outputFlag is the flag for the format, of every command that prints a result. The variable applies to every
// command that has the flag, so that a script sets it once.
type outputFlag struct {
	Output outputForm `short:"o" help:"Format of the output: ${enum}." enum:"table,json,yaml" default:"table" env:"CARILLON_OUTPUT"`
}

// isDocument reports whether the format is for programs.
func (f *outputFlag) isDocument() bool { return f.Output != formTable }

// print prints one value as a document.
func (f *outputFlag) print(con *console, v any) error { return con.printDocument(f.Output, v) }

// printDocument prints one value: indented JSON, or a YAML document. A value is encoded as a whole before it is
// written, so that an error leaves no half document.
func (c *console) printDocument(form outputForm, v any) error {
	text, err := json.Marshal(v, jsonOptions, jsontext.WithIndent("  "))
	if err == nil && form == formYAML {
		text, err = c.yamlDocument(text)
	} else {
		text = append(text, '\n')
	}
	if err == nil {
		c.clearBar()
		_, err = c.out.Write(text)
	}
	return err
}

// yamlDocument returns a JSON text as the next YAML document of the output. Documents after the first begin with a
// line of ---, so that the output is one stream. It counts the documents in the console, so that a command that prints
// several values still gives one stream.
func (c *console) yamlDocument(text []byte) ([]byte, error) {
	document, err := yamlOf(text)
	if c.documents++; c.documents > 1 {
		document = append([]byte("---\n"), document...)
	}
	return document, err
}

// yamlOf returns a JSON text as YAML, with the same keys in the same order. YAML is always made from the JSON, so that
// the two formats cannot differ.
func yamlOf(text []byte) ([]byte, error) {
	nodes, err := readJSONNodes(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	for _, node := range nodes {
		styleScalars(node)
		if err := enc.Encode(node); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), enc.Close()
}

// printRecord prints one value of a stream: a line of JSON, or a YAML document. One record at a time, so that a stream
// of any length needs little memory, and a reader can begin before its end.
func (o *output) printRecord(form outputForm, v any, options ...json.Options) error {
	text, err := json.Marshal(v, append([]json.Options{jsonOptions}, options...)...)
	if err == nil && form == formYAML {
		text, err = o.con.yamlDocument(text)
	} else {
		text = append(text, '\n')
	}
	if err == nil {
		_, err = o.Write(text)
	}
	return err
}

// printItem prints one value of a list that printList has begun. YAML gets each item as a list of one, whose lines
// continue the list before.
func (o *output) printItem(form outputForm, v any) error {
	text, err := json.Marshal(v, jsonOptions)
	if err == nil && form == formYAML {
		text, err = yamlOf(append(append([]byte{'['}, text...), ']'))
	}
	if err == nil {
		_, err = o.Write(text)
	}
	return err
}
