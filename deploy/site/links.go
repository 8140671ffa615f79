package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// link checks every link, and points those to documents to their pages. Its error lists all dead ones.
func (s *site) link() error {
	var dead []error
	for _, p := range s.pages {
		var folders []*ast.Link
		err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			var to *[]byte
			switch n := n.(type) {
			case *ast.Link:
				to = &n.Destination
			case *ast.Image:
				to = &n.Destination
			}
			if to == nil || !entering {
				return ast.WalkContinue, nil
			}
			s.links++
			target, err := s.resolve(p, string(*to))
			if err != nil {
				dead = append(dead, fmt.Errorf("%s: %q: %w", p.path, *to, err))
			}
			if l, ok := n.(*ast.Link); ok && target == "" {
				folders = append(folders, l)
			}
			*to = []byte(target)
			return ast.WalkContinue, nil
		})
		if err != nil {
			return err
		}
		for _, l := range folders {
			unlink(l)
		}
	}
	return errors.Join(dead...)
}

// resolve returns where a link of a page leads in the site, relative to that page; "" if it leads to a directory without
// documents, which the site does not have.
func (s *site) resolve(from *page, link string) (string, error) {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return "", err
	case u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "mailto":
		return link, nil
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		return "", errors.New("leads out of the repository; want a relative path, or https")
	}
	if u.Path == "" {
		return link, s.checkAnchor(from, u.Fragment)
	}
	name := path.Join(path.Dir(from.path), u.Path)
	if !fs.ValidPath(name) {
		return "", errors.New("leads out of the repository")
	}
	info, err := fs.Stat(s.root, name)
	if err != nil {
		return "", errors.New("there is no such file")
	}
	to := s.byPath[name]
	if info.IsDir() {
		to = s.byPath[name+"/README.md"]
	}
	switch {
	case to != nil:
		if err := s.checkAnchor(to, u.Fragment); err != nil {
			return "", err
		}
		name = to.output()
	case info.IsDir():
		return "", nil
	case isPicture(name):
		s.copied[name] = true
	default:
		s.shown[name] = true
		name += ".html"
	}
	return (&url.URL{Path: relative(from.output(), name), Fragment: u.Fragment}).String(), nil
}

// isPicture reports whether a file is one that a page shows.
func isPicture(name string) bool {
	return slices.Contains([]string{".png", ".svg", ".jpg"}, path.Ext(name))
}

// checkAnchor returns an error if a page has no heading with an id.
func (s *site) checkAnchor(p *page, id string) error {
	if id == "" || p.anchors[id] {
		return nil
	}
	return fmt.Errorf("%s has no heading #%s", p.path, id)
}

// relative returns the path from one file of the site to another.
func relative(from, to string) string {
	up := strings.Repeat("../", strings.Count(from, "/"))
	// Within one directory the name alone is enough, and the shortest.
	if dir := path.Dir(from); dir != "." && strings.HasPrefix(to, dir+"/") {
		return strings.TrimPrefix(to, dir+"/")
	}
	return up + to
}

// unlink replaces a link by its text.
func unlink(l *ast.Link) {
	parent := l.Parent()
	for n := l.FirstChild(); n != nil; n = l.FirstChild() {
		parent.InsertBefore(parent, l, n)
	}
	parent.RemoveChild(parent, l)
}
