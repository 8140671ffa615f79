package rules

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHTTPClientsArePlain: each HTTP client of the product has a transport of plainhttp, so that no answer of a server keeps it for ever.
// Package dispatch has no client, and judges the answers of targets itself.
func TestHTTPClientsArePlain(t *testing.T) {
	clients := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		isProduct := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "../bench/") &&
			!strings.HasPrefix(name, "../browser/") && !strings.HasPrefix(name, "../examples/") && !strings.HasPrefix(name, "../testkit/")
		if err != nil || entry.IsDir() || !isProduct {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(source)) {
			if strings.Contains(line, "http.DefaultClient") || strings.Contains(line, "http.Get(") {
				t.Errorf("%s uses the default client of net/http", name)
			}
		}
		if strings.Contains(string(source), "http.Client{") {
			clients++
			if !strings.Contains(string(source), "plainhttp.Over(") {
				t.Errorf("%s has an HTTP client whose transport is not of plainhttp", name)
			}
		}
		return nil
	})
	if err != nil || clients < 4 {
		t.Errorf("%d clients, error %v", clients, err)
	}
}
