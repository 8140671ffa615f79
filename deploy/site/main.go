// Command site makes a static site of the documents of the repository: a page for each Markdown file, with a list of all
// pages and a search that works without a server. The site needs nothing from elsewhere.
//
// Every link is checked first: one that leads to no file, no page or no heading is an error, and nothing is written.
//
// It is a module of its own, so that the library for Markdown is no dependency of the server.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", "../..", "the repository")
	out := flag.String("out", "../../dist/site", "directory of the site; it is replaced")
	check := flag.Bool("check", false, "check the links, and write nothing")
	flag.Parse()
	if err := run(*root, *out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// run makes the site, unless it is only to be checked.
func run(root, out string, check bool) error {
	s, err := readSite(os.DirFS(root))
	if err != nil {
		return err
	}
	if err := s.link(); err != nil {
		return err
	}
	if check {
		fmt.Printf("%d pages, %d links, none dead\n", len(s.pages), s.links)
		return nil
	}
	files, err := s.render()
	if err != nil {
		return err
	}
	if err := writeSite(out, files); err != nil {
		return err
	}
	fmt.Printf("%s/index.html: %d pages, %d links, none dead\n", out, len(s.pages), s.links)
	return nil
}
