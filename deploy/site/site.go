package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// fileBytesMax bounds a file that is read: documents, and files that they link to.
const fileBytesMax = 4 << 20

// pagesMax bounds the number of pages.
const pagesMax = 2000

// site is the documents of a repository. It is made by readSite, linked once, and then rendered.
type site struct {
	root  fs.FS
	pages []*page // README first, then by path
	// byPath has the pages by the path of their file in the repository.
	byPath map[string]*page
	// copied are the pictures that pages link to, and shown the other files, such as programs and manifests, by path. The
	// latter become pages: a program that was copied would be one of the repository's, to tools that look for programs.
	copied, shown map[string]bool
	links         int // links that were checked
}

// readSite reads and parses all documents: those at the root, below docs and below examples.
func readSite(root fs.FS) (*site, error) {
	s := &site{root: root, byPath: make(map[string]*page), copied: make(map[string]bool), shown: make(map[string]bool)}
	names, err := fs.Glob(root, "*.md")
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"docs", "examples"} {
		below, err := documentsBelow(root, dir)
		if err != nil {
			return nil, err
		}
		names = append(names, below...)
	}
	if len(names) > pagesMax {
		return nil, fmt.Errorf("%d documents; want at most %d", len(names), pagesMax)
	}
	for _, name := range names {
		if err := s.add(name); err != nil {
			return nil, err
		}
	}
	s.addIndexes()
	slices.SortStableFunc(s.pages, func(a, b *page) int { return strings.Compare(orderOf(a.path), orderOf(b.path)) })
	return s, nil
}

// orderOf returns what pages are sorted by: the README is first.
func orderOf(name string) string {
	if name == "README.md" {
		return ""
	}
	return name
}

// documentsBelow returns the Markdown files below a directory; none if it does not exist.
func documentsBelow(root fs.FS, dir string) (names []string, err error) {
	err = fs.WalkDir(root, dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == dir:
			return nil
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "node_modules":
			return fs.SkipDir
		case !entry.IsDir() && path.Ext(name) == ".md":
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// add reads and parses a document.
func (s *site) add(name string) error {
	text, err := s.read(name)
	if err != nil {
		return err
	}
	p := parsePage(name, text)
	s.pages = append(s.pages, p)
	s.byPath[name] = p
	return nil
}

// addIndexes adds, for each directory of documents without a README, a page that lists them.
func (s *site) addIndexes() {
	below := make(map[string][]*page)
	for _, p := range s.pages {
		if dir := path.Dir(p.path); dir != "." {
			below[dir] = append(below[dir], p)
		}
	}
	for dir, pages := range below {
		name := dir + "/README.md"
		if s.byPath[name] != nil {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n", dir)
		for _, p := range pages {
			fmt.Fprintf(&b, "- [%s](%s)\n", strings.NewReplacer("[", `\[`, "]", `\]`).Replace(p.title), path.Base(p.path))
		}
		p := parsePage(name, []byte(b.String()))
		p.listed = true
		s.pages = append(s.pages, p)
		s.byPath[name] = p
	}
}

// read returns the content of a file of the repository.
func (s *site) read(name string) ([]byte, error) {
	info, err := fs.Stat(s.root, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > fileBytesMax {
		return nil, fmt.Errorf("%s has %d bytes; want at most %d", name, info.Size(), fileBytesMax)
	}
	return fs.ReadFile(s.root, name)
}

// writeSite replaces a directory by files. Only a directory that is a site already, or empty, is replaced, so that a
// mistyped name removes nothing.
func writeSite(out string, files map[string][]byte) error {
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(out, searchIndex)); err != nil {
			return fmt.Errorf("%s is no site, and is not replaced: %w", out, err)
		}
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for name, text := range files {
		to := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
