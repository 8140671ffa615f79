package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"

	"github.com/carillon-io/carillon/client"
)

// TestYAMLSaysTheSame writes values as JSON and as YAML: both are read as the same, whatever the texts in
// them look like.
func TestYAMLSaysTheSame(t *testing.T) {
	j := client.JobInfo{Status: "active", Version: 3}
	j.Name, j.Schedule, j.Timezone = "reports/daily", "@daily", "Europe/Berlin"
	j.Payload = []byte(`{"n":1,"big":12345678901234567890,"f":1.5e-3,"list":[],"none":null,"yes":true}`)
	j.Labels = map[string]string{
		"a": "yes", "b": "012", "c": "* * * * *", "d": "- x", "e": "null", "f": "a: b # c", "g": "two\nlines\n",
		"h": "1e3", "i": " blanks ", "j": "<<", "k": "2026-11-01", "l": "---", "m": "😀 ünï\u2028", "n": "\t", "o": "", "on": "1:20",
	}
	text, err := json.Marshal(j, jsonOptions)
	if err != nil {
		t.Fatal(err)
	}
	made, err := yamlOf(text)
	if err != nil {
		t.Fatal(err)
	}
	var fromYAML, fromJSON any
	if err := yaml.Unmarshal(made, &fromYAML); err != nil {
		t.Fatalf("%v in\n%s", err, made)
	}
	if err := yaml.Unmarshal(text, &fromJSON); err != nil { // the same types of numbers
		t.Fatal(err)
	}
	if !reflect.DeepEqual(fromYAML, fromJSON) {
		t.Errorf("YAML has %v, JSON has %v\n%s", fromYAML, fromJSON, made)
	}
	for _, want := range []string{"name: reports/daily\n", "\nlabels:\n  a: \"yes\"\n", `b: "012"`, `"on": "1:20"`, "\nversion: 3\n"} {
		if !strings.Contains(string(made), want) {
			t.Errorf("no %q in\n%s", want, made)
		}
	}
	if name, labels := bytes.Index(made, []byte("name:")), bytes.Index(made, []byte("labels:")); name > labels {
		t.Error("the keys are not in the order of the JSON")
	}
}

// TestSeveralDocuments: documents after the first begin with a line of their own, values of a stream are
// documents too, and a list is one document with one list.
func TestSeveralDocuments(t *testing.T) {
	var b bytes.Buffer
	con := &console{out: &b}
	type thing struct {
		Name string `json:"name"`
	}
	for _, name := range []string{"a", "b"} {
		if err := con.printDocument(formYAML, thing{name}); err != nil {
			t.Fatal(err)
		}
	}
	out := con.buffered()
	if err := out.printRecord(formYAML, thing{"c"}); err != nil {
		t.Fatal(err)
	}
	_ = out.flush()
	if want := "name: a\n---\nname: b\n---\nname: c\n"; b.String() != want {
		t.Errorf("got\n%s want\n%s", b.String(), want)
	}
	for names, want := range map[string]string{"": "things: []\n", "a b": "things:\n- name: a\n- name: b\n"} {
		b.Reset()
		err := printList(con, formYAML, "things", func(yield func(thing, error) bool) {
			for name := range strings.FieldsSeq(names) {
				if !yield(thing{name}, nil) {
					return
				}
			}
		})
		if err != nil || b.String() != want {
			t.Errorf("%v: got\n%s want\n%s", err, b.String(), want)
		}
	}
}
