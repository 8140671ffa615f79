package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// addChecksums adds files of a directory to its SHA256SUMS, in the format of `sha256sum -c`, sorted by name. A line that
// a file has there already is replaced.
func addChecksums(dir string, names []string) error {
	path := filepath.Join(dir, "SHA256SUMS")
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sums := make(map[string]string)
	for line := range strings.Lines(string(old)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			sums[name] = sum
		}
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}
