package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"
)

//go:embed assets
var assets embed.FS

// Files of the site besides its pages.
const (
	styleFile   = "site.css"
	searchFile  = "search.js"
	searchIndex = "search-index.js"
	iconFile    = "bell.svg"
)

// dashboardStyle and dashboardIcon are the files of the style and the icon of the server's pages, which the site shares: one palette,
// light and dark.
const (
	dashboardStyle = "dashboard/assets/style/*.css"
	dashboardIcon  = "dashboard/assets/bell.svg"
)

var layout = template.Must(template.ParseFS(assets, "assets/page.html"))

// group is a part of the list of pages.
type group struct {
	Title string
	Pages []entry
}

// entry is a page in the list of pages.
type entry struct {
	Title, Link string
	Current     bool
}

// render returns the files of the site. The site has to be linked.
func (s *site) render() (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, p := range s.pages {
		text, err := s.renderPage(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
		files[p.output()] = text
	}
	for name := range s.copied {
		text, err := s.read(name)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	for name := range s.shown {
		text, err := s.renderFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name+".html"] = text
	}
	index, err := s.searchIndex()
	if err != nil {
		return nil, err
	}
	files[searchIndex] = index
	if files[searchFile], err = assets.ReadFile("assets/search.js"); err != nil {
		return nil, err
	}
	if files[iconFile], err = s.read(dashboardIcon); err != nil {
		return nil, err
	}
	files[styleFile], err = s.style()
	return files, err
}

// style returns the style of the server's pages, whose parts are in the order of their names, and that of the site.
func (s *site) style() ([]byte, error) {
	parts, err := fs.Glob(s.root, dashboardStyle)
	if err == nil && len(parts) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dashboardStyle, err)
	}
	var all []byte
	for _, name := range parts {
		part, err := s.read(name)
		if err != nil {
			return nil, err
		}
		all = append(append(all, part...), '\n')
	}
	own, err := assets.ReadFile("assets/site.css")
	return append(all, own...), err
}

// table is a table, which on a narrow screen is moved on its own.
var table = regexp.MustCompile(`(?s)<table>.*?</table>`)

// renderPage returns the HTML of a page.
func (s *site) renderPage(p *page) ([]byte, error) {
	var content bytes.Buffer
	if err := markdown.Renderer().Render(&content, p.source, p.tree); err != nil {
		return nil, err
	}
	body := table.ReplaceAll(content.Bytes(), []byte(`<div class="wide-table" tabindex="0">$0</div>`))
	return s.execute(p.output(), p.title, template.HTML(body), p.inner())
}

// renderFile returns the HTML of a page that shows a file.
func (s *site) renderFile(name string) ([]byte, error) {
	text, err := s.read(name)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, errors.New("is neither a text nor a picture that the site knows")
	}
	shown := template.HTMLEscapeString(string(text))
	body := "<h1>" + template.HTMLEscapeString(name) + "</h1>\n<pre><code>" + shown + "</code></pre>"
	return s.execute(name+".html", name, template.HTML(body), nil)
}

// execute returns the HTML of a page of the site with a content.
func (s *site) execute(out, title string, body template.HTML, sections []section) ([]byte, error) {
	var b bytes.Buffer
	err := layout.Execute(&b, map[string]any{
		"Title": title, "Body": body, "Groups": s.groups(out), "Root": strings.Repeat("../", strings.Count(out, "/")), "Sections": sections,
	})
	return b.Bytes(), err
}

// inner returns the headings of a page below its title, for its own contents.
func (p *page) inner() []section {
	if len(p.sections) < 4 {
		return nil
	}
	return p.sections[1:]
}

// groups returns the list of pages as one of them shows it. A page has its directory as its group.
func (s *site) groups(current string) []group {
	groups := []group{{Title: "Carillon"}, {Title: "Documents"}, {Title: "Examples"}, {Title: "Formats"}}
	for _, p := range s.pages {
		at := 1
		switch {
		case !strings.Contains(p.path, "/"):
			at = 0
		case strings.HasPrefix(p.path, "examples/"):
			at = 2
		case strings.HasPrefix(p.path, "docs/format/"):
			at = 3
		case strings.HasPrefix(p.path, "docs/adr/") && !p.listed, p.listed && p.path == "docs/README.md":
			continue // the decisions are on their own list, and all documents on this one
		}
		title := p.title
		if p.path == "docs/adr/README.md" {
			title = "Decisions"
		}
		groups[at].Pages = append(groups[at].Pages, entry{title, relative(current, p.output()), p.output() == current})
	}
	return groups
}

// found is a section in the index of the search; the short names keep the index small.
type found struct {
	Page  string `json:"p"`
	Title string `json:"t"`
	Head  string `json:"h"`
	Text  string `json:"x"`
}

// searchIndex returns the index as a script, because a page that was opened from a file may not fetch one.
func (s *site) searchIndex() ([]byte, error) {
	var all []found
	for _, p := range s.pages {
		if p.listed {
			continue
		}
		for i, sec := range p.sections {
			to := p.output()
			if i > 0 {
				to += "#" + sec.ID
			}
			all = append(all, found{to, p.title, sec.Title, sec.text})
		}
	}
	text, err := json.Marshal(all)
	return append(append([]byte("const searchIndex = "), text...), ";\n"...), err
}
