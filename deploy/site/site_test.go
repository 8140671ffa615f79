package main

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// TestDeadLinks: each kind of dead link is an error that names the page and the link, and all are told at once.
func TestDeadLinks(t *testing.T) {
	root := fstest.MapFS{
		"README.md":  {Data: []byte("# Top\n[a](docs/a.md) [b](docs/a.md#two-words) [c](deploy/x.yaml) [d](deploy) [e](docs/) [f](https://example.com/none)\n")},
		"docs/a.md":  {Data: []byte("# A\n## Two `words`\n## Two words\n[up](../README.md#top) [same](#two-words-1) ![p](p.png)\n")},
		"docs/p.png": {}, "deploy/x.yaml": {Data: []byte("a: 1")},
	}
	s, err := readSite(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.link(); err != nil || s.links < 9 || !s.shown["deploy/x.yaml"] || !s.copied["docs/p.png"] {
		t.Fatalf("good links: %v, %d, %v", err, s.links, s.shown)
	}
	for _, link := range []string{"none.md", "a.md#nothing", "#nothing", "../../etc/passwd", "/docs/a.md", "ftp://example.com/", "p.jpg"} {
		root["docs/b.md"] = &fstest.MapFile{Data: []byte("# B\n[x](" + link + ") [y](none-either.md)\n")}
		s, err := readSite(root)
		if err != nil {
			t.Fatal(err)
		}
		err = s.link()
		if err == nil || !strings.Contains(err.Error(), `docs/b.md: "`+link+`"`) || !strings.Contains(err.Error(), "none-either.md") {
			t.Errorf("%s: %v", link, err)
		}
	}
}

// reference is a link or a file that a finished page names.
var reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// TestSite makes the site of this repository, and follows every link of the finished pages.
func TestSite(t *testing.T) {
	s, err := readSite(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.link(); err != nil {
		t.Fatal(err)
	}
	files, err := s.render()
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for name, text := range files {
		if strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "go.mod") {
			t.Errorf("%s would be a program of the repository", name)
		}
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			to, anchor, _ := strings.Cut(m[1], "#")
			file := path.Join(path.Dir(name), to)
			if to == "" {
				file = name
			}
			there, ok := files[file]
			if !ok || anchor != "" && !strings.Contains(string(there), `id="`+anchor+`"`) {
				t.Errorf("%s: %s leads nowhere", name, m[1])
			}
		}
		for _, from := range []string{`<script src="http`, `<link rel="stylesheet" href="http`, `<img src="http`} {
			if strings.Contains(string(text), from) {
				t.Errorf("%s loads a file from elsewhere", name)
			}
		}
	}
	if links < 5000 {
		t.Errorf("%d links; the walk is broken", links)
	}
	out := filepath.Join(t.TempDir(), "site")
	for range 2 { // the second replaces the first
		if err := writeSite(out, files); err != nil {
			t.Fatal(err)
		}
	}
	search(t, out)
}

// search runs the search of a site with node, if it is installed.
func search(t *testing.T, out string) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Log("node is not installed; the search is not run")
		return
	}
	program := `
const fs = require("fs"), made = () => ({ children: [], dataset: { root: "" }, value: "", addEventListener(kind, f) { this["on" + kind] = f; },
  appendChild(x) { this.children.push(x); return x; }, replaceChildren(...all) { this.children = all; } });
const ids = { search: made(), found: made() };
global.document = { getElementById: (id) => ids[id], body: made(), createElement: made, addEventListener() {} };
const code = ["search-index.js", "search.js"].map((f) => fs.readFileSync(process.argv[1] + "/" + f, "utf8").replace('"use strict";', "")).join("\n");
(0, eval)(code);
for (const words of ["catching up after an outage", "CARILLON_HTTP_LISTEN", "zzzznothing", "<img"]) {
  ids.search.value = words; ids.search.oninput();
  const first = ids.found.children[0];
  console.log(words + ": " + (first.children.length ? first.children[0].href : first.textContent));
}`
	text, err := exec.Command(node, "-e", program, out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, want := range []string{"catching up after an outage: docs/recipes.html#catching-up-after-an-outage", "CARILLON_HTTP_LISTEN: docs/", "zzzznothing: Nothing has all"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the search finds %s; want %s", text, want)
		}
	}
}

// TestForeignDirectory: a directory that is no site is not replaced.
func TestForeignDirectory(t *testing.T) {
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeSite(out, map[string][]byte{"index.html": nil}); err == nil {
		t.Error("it was replaced")
	}
	if _, err := os.Stat(filepath.Join(out, "precious")); err != nil {
		t.Error(err)
	}
}
