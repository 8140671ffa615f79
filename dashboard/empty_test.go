package dashboard_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestEmptyPagesSayWhatNext: a page with nothing to show leads on.
func TestEmptyPagesSayWhatNext(t *testing.T) {
	w := newWorld(t)
	for path, next := range map[string]string{
		"/":                       `<a href="/new">Register a job</a>`,
		"/jobs":                   `<a href="/new">Register the first one</a>`,
		"/jobs?contains=nothing":  `<a href="/jobs">Show all jobs</a>`,
		"/dead":                   `/docs/lifecycle.md">`,
		"/runs":                   `<a href="/jobs">the jobs</a>`,
		"/runs?from=2026-01-01":   `<a href="/runs">Show all dead runs</a>`,
		"/audit":                  `<a href="/new">Register the first job</a>`,
		"/audit?name=nothing":     `<a href="/audit">Show all entries</a>`,
		"/calendars":              "carillon calendar put",
		"/nodes":                  `/docs/replication.md">`,
		"/runs?job=a&status=dead": "no job", // an error, which is no empty list
	} {
		if page := w.get(path).body; !strings.Contains(page, next) {
			t.Errorf("%s does not lead on by %s", path, next)
		}
	}
	w.put(client.Job{Name: "a", Schedule: "@yearly"})
	for path, next := range map[string]string{
		"/":                       `<a href="/jobs">The jobs</a> say when`,
		"/job?name=a":             "“Run now” begins one at once",
		"/dead?job=a":             `<a href="/dead">Show those of all jobs</a>`,
		"/runs?job=a":             `<a href="/job?name=a">page</a> says when`,
		"/runs?job=a&status=dead": `<a href="/runs?job=a">Show all runs of the job</a>`,
	} {
		if page := w.get(path).body; !strings.Contains(page, next) {
			t.Errorf("%s does not lead on by %s", path, next)
		}
	}
}

// TestDocumentsExist: each document to which a page links is in the repository.
func TestDocumentsExist(t *testing.T) {
	pages, err := filepath.Glob("pages/*.html")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.Document "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
			found++
			if _, err := os.Stat(filepath.Join("..", "docs", m[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if found < 4 {
		t.Errorf("%d links to documents; want at least 4", found)
	}
}
