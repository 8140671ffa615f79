package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
)

// TestApplyTakesItsExport: apply reads the jobs that export writes, also with texts that mean something in YAML. It
// refused the whole file for one "<<", or for one text of several lines that begins with a tab.
func TestApplyTakesItsExport(t *testing.T) {
	for _, text := range []string{"<<", "=", "\ta\nb", "\t\n", " \n", "\na", "a \nb", "a\rb", "a\u2028b", "\ufeff", "---\n...\n", "1e3", "# a: b"} {
		quoted := quote(text)
		info := client.JobInfo{Job: client.Job{
			Name: "d1", Schedule: "@daily", Target: client.Target{Kind: "nats", Subject: "x.y"},
			Description: text, Payload: fmt.Appendf(nil, `{%s:[%s]}`, quoted, quoted),
		}}
		if !strings.ContainsFunc(text, unicode.IsControl) { // no label has one
			info.Labels = map[string]string{"l": text}
		}
		var file bytes.Buffer
		out := (&console{out: &file}).buffered()
		if err := errors.Join(out.printRecord(formYAML, ownersPart(&info), ownerOptions), out.flush()); err != nil {
			t.Fatal(err)
		}
		jobs, err := readWanted("f", file.Bytes(), "set")
		if err != nil || len(jobs) != 1 {
			t.Errorf("%q: %d jobs, %v in\n%s", text, len(jobs), err, &file)
			continue
		}
		if j := jobs[0].job; j.Description != text || j.Labels["l"] != info.Labels["l"] || !bytes.Equal(j.Payload, info.Payload) {
			t.Errorf("%q: read %+v from\n%s", text, j, &file)
		}
	}
}

// TestTextsAreReadable: ordinary texts have no quotes, and texts of several lines stay lines.
func TestTextsAreReadable(t *testing.T) {
	for text, want := range map[string]string{
		"Sends the report: see https://x.y/#top": "'Sends the report: see https://x.y/#top'",
		"https://x.y:80/a?b=c#d":                 "https://x.y:80/a?b=c#d",
		"0 8 * * 1-5":                            "0 8 * * 1-5",
		"0 8 1 1 1":                              "0 8 1 1 1",
		"1h30m0s":                                "1h30m0s",
		"--verbose":                              "--verbose",
		"it's ünï":                               "it's ünï",
		"@daily":                                 "'@daily'",
		"* * * * *":                              "'* * * * *'",
		"--- a":                                  "'--- a'",
		"on":                                     `"on"`,
		"<<":                                     `"<<"`,
		"0o17":                                   `"0o17"`,
		"1_000":                                  `"1_000"`,
		"2026-11-01 08:00":                       `"2026-11-01 08:00"`,
		"#!/bin/sh\nif a; then\n\tb\nfi\n":       "|\n  #!/bin/sh\n  if a; then\n  \tb\n  fi",
		"a\n\n b\n\n":                            "|+\n  a\n\n   b\n",
		" a\nb":                                  `" a\nb"`,
		"a \nb":                                  `"a \nb"`,
	} {
		made, err := yamlOf([]byte(`{"t":` + string(quote(text)) + `}`))
		if got := strings.TrimSuffix(string(made), "\n"); err != nil || got != "t: "+want {
			t.Errorf("%q: got\n%s, %v; want\nt: %s", text, got, err, want)
		}
	}
}

// TestNumbersStayNumbers: a number is read with the same digits, also where a reader would take these for a text.
func TestNumbersStayNumbers(t *testing.T) {
	checkSameInYAML(t, "numbers", fmt.Sprintf(`[0,-0,1,1.50,12345678901234567890,1e5,1E-7,-1.5e+3,1e999,%s]`, strings.Repeat("9", 400)))
	if made, err := yamlOf([]byte(`[1.50,1e5]`)); err != nil || string(made) != "- 1.50\n- !!float 1e5\n" {
		t.Errorf("%s, %v", made, err)
	}
}

// yamlPieces are pieces of texts that mean something to some reader of YAML, in some place.
var yamlPieces = []string{
	"", " ", "  ", "\t", "\n", "\n\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029", "\ufeff", "\x00", "\x1b", "\x7f", "\u00a0", "\u202e", "\ufffd", "\uffff", "😀",
	"<<", "=", "-", "- ", "---", "...", "?", "? ", ":", ": ", "#", " #", "# ", "%YAML 1.1", "&a", "*a", "!", "!!int ", "!!binary ", "|", "|2-", ">", "@", "`", "'", `"`, `\`, "[", "]", "{", "}", ",",
	"~", "null", "true", "y", "n", "yes", "NO", "on", "off", "0", "7", "0o7", "0x", "0b1", "1_000", "1e3", ".", ".5", ".inf", ".NaN", "+", "1:20", "2026-11-01", "T00:00:00Z",
	"a", "b c", "ünï", "name", strings.Repeat("long ", 30), strings.Repeat("x", 1100),
}

// TestYAMLOfRandomTexts writes streams of documents with random texts as YAML: each is read as it was written.
func TestYAMLOfRandomTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	text := func() string {
		var pieces []string
		for range rng.IntN(5) {
			pieces = append(pieces, yamlPieces[rng.IntN(len(yamlPieces))])
		}
		return strings.Join(pieces, []string{"", "\n", "\na"}[rng.IntN(3)])
	}
	for i := range 4000 {
		var documents []string
		for range 1 + rng.IntN(3) {
			documents = append(documents, documentOf(text(), text(), text()))
		}
		checkSameInYAML(t, fmt.Sprintf("round %d", i), documents...)
		if t.Failed() {
			return
		}
	}
}

// FuzzYAML: any text in any place of a document is read as it was written.
func FuzzYAML(f *testing.F) {
	for i, piece := range yamlPieces {
		f.Add(piece, yamlPieces[(i+1)%len(yamlPieces)], "a\n"+piece)
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		a, b, c = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?"), strings.ToValidUTF8(c, "?")
		checkSameInYAML(t, "fuzz", documentOf(a, b, c), documentOf(c, a, b))
	})
}

// documentOf returns JSON with three texts as names of members, as values and as items, on several levels.
func documentOf(a, b, c string) string {
	x, y, z := quote(a), quote(b), quote(c)
	return fmt.Sprintf(`{"labels":{%s:%s},"list":[%s,[%s],{%s:[%s,{"in":%s}]}],"deep":{%s:{%s:%s}},"last":%s}`, x, y, y, z, z, x, y, y, x, z, z)
}

// quote returns a text as JSON.
func quote(text string) []byte {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(err)
	}
	return b
}

// checkSameInYAML writes JSON documents as a stream of YAML, and checks that the reader of apply gives the same JSON.
func checkSameInYAML(t *testing.T, what string, documents ...string) {
	t.Helper()
	var stream []byte
	con := new(console)
	for _, d := range documents {
		made, err := con.yamlDocument([]byte(d))
		if err != nil {
			t.Fatalf("%s: %v of %s", what, err, d)
		}
		stream = append(stream, made...)
	}
	nodes, err := readNodes(stream)
	if err != nil || len(nodes) != len(documents) {
		t.Fatalf("%s: %d documents, %v; want %q in\n%s", what, len(nodes), err, documents, stream)
	}
	for i, node := range nodes {
		if read, err := appendNode(nil, node, 0); err != nil || string(read) != documents[i] {
			t.Errorf("%s: read %s, %v; want %s from\n%s", what, read, err, documents[i], stream)
		}
	}
}
