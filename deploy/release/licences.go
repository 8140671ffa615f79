package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licencesName is the name of the file with the licences of everything that is linked into a binary.
const licencesName = "LICENSES.txt"

// licenceFile matches the names of files that have to go with a binary: licences, notices, grants of patents, and the
// names of authors to which a licence refers.
var licenceFile = regexp.MustCompile(`(?i)^(.*[_-])?(licen[cs]e|copying|notice|patents|authors)([._-].*)?$`)

// linkedPackage is a package of a binary. Module is the path and version of its module, root the module's directory.
type linkedPackage struct{ module, root, dir string }

// licences returns the licences of all modules in the binary of a platform, each text once, below the list of what it
// is for. The texts come from the module cache, whose content go.sum guards, so the same commit gives the same bytes.
// A module without any text is an error: it must not be shipped unseen.
func (r *release) licences(ctx context.Context, p platform) ([]byte, error) {
	packages, err := r.packages(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	owners, found := make(map[string][]string), make(map[string]bool) // by text; by module
	for _, q := range packages {
		texts, err := q.texts()
		if err != nil {
			return nil, err
		}
		found[q.module] = found[q.module] || len(texts) > 0
		for name, text := range texts {
			if owner := q.module + " " + name; !slices.Contains(owners[text], owner) {
				owners[text] = append(owners[text], owner)
			}
		}
	}
	for module, ok := range found {
		if !ok {
			return nil, fmt.Errorf("%s has no text of a licence; look at its source, and add the name of the file to licenceFile", module)
		}
	}
	return joinLicences(owners), nil
}

// joinLicences writes texts with those that they are for, in the order of the first of these.
func joinLicences(owners map[string][]string) []byte {
	type entry struct{ heads, text string }
	var entries []entry
	for text, of := range owners {
		slices.Sort(of)
		entries = append(entries, entry{strings.Join(of, "\n"), text})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.heads+a.text, b.heads+b.text) })
	var out bytes.Buffer
	out.WriteString("The licences of the modules in carillon, each text once, below the modules and files that have it.\n")
	for _, e := range entries {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), e.heads, strings.TrimSpace(e.text))
	}
	return out.Bytes()
}

// packages lists the packages that are linked for a platform, except this project's own. Those of Go itself count as
// one module.
func (r *release) packages(ctx context.Context, p platform) (all []linkedPackage, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f",
		`{{if .Standard}}go||{{.Root}}|{{.Root}}{{else if not .Module.Main}}{{.Module.Path}}|{{.Module.Version}}|{{.Module.Dir}}|{{.Dir}}{{end}}`, "./cmd/carillon")
	cmd.Dir, cmd.Env = r.src, append(os.Environ(), p.settings()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, stderr.Bytes())
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		part := strings.Split(line, "|")
		if len(part) != 4 {
			continue
		}
		q := linkedPackage{strings.TrimSpace(part[0] + " " + part[1]), part[2], part[3]}
		if !slices.Contains(all, q) {
			all = append(all, q)
		}
	}
	return all, nil
}

// texts returns the files of licences beside a package, and in the directories above it up to its module's, by their
// names within the module. Code that was copied into a module often has a licence of its own there.
func (q linkedPackage) texts() (map[string]string, error) {
	texts := make(map[string]string)
	for dir := q.dir; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(q.root, filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			texts[filepath.ToSlash(name)] = strings.ReplaceAll(string(text), "\r\n", "\n")
		}
		if dir == q.root || len(dir) <= len(q.root) {
			return texts, nil
		}
	}
}
