package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestManPage: the page has every command and every flag that --help has, and nothing in it can be taken
// for a macro.
func TestManPage(t *testing.T) {
	root := testParser(t).Model.Node
	page := manPage(root, "v1.2.3")
	if page != manPage(root, "v1.2.3") {
		t.Error("two pages of one grammar differ")
	}
	for _, node := range commandsOf(root) {
		if !strings.Contains(page, `.SS "carillon `+roffText(node.Path())+`"`) {
			t.Errorf("%s is missing", node.Path())
		}
		for _, flag := range node.Flags {
			if !strings.Contains(page, roffText("-"+flag.Name)) {
				t.Errorf("%s: --%s is missing", node.Path(), flag.Name)
			}
		}
	}
	macros := []string{".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".RS", ".RE", ".nf", ".fi"}
	var sections []string
	for line := range strings.Lines(page) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, ".") && !slices.Contains(macros, name) || strings.HasPrefix(line, "'") {
			t.Errorf("taken for a macro: %s", line)
		}
		if name == ".SH" {
			sections = append(sections, strings.Trim(rest, `"`))
		}
	}
	want := []string{"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "SERVER FLAGS", "FLAGS OF EVERY COMMAND", "ENVIRONMENT", "FILES", "EXIT STATUS"}
	if !slices.Equal(sections, want) {
		t.Errorf("sections %q; want %q", sections, want)
	}
}

// TestManPageIsTypeset lets groff read the page, if it is installed: no warning, and examples and dashes
// come out as they were written.
func TestManPageIsTypeset(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-P-cbou", "-rLL=300n")
	cmd.Stdin = strings.NewReader(manPage(testParser(t).Model.Node, "v1.2.3"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("groff: %v\n%s", err, errs.String())
	}
	for _, want := range []string{
		`carillon job put hello --schedule '@every 10s' --target nats:hello --payload '{"n":1}'`,
		"-o, --output=\"table\"", "CARILLON_SERVER", "~/.config/nats/context/NAME.json",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the page does not show %s", want)
		}
	}
}

// TestRoffEscapes: characters with a meaning in roff are shown unchanged.
func TestRoffEscapes(t *testing.T) {
	p := &roff{}
	p.line(`.B 'a' \n -x …`)
	p.macro("SH", `say "hi"`)
	want := `\&.B \(aqa\(aq \en \-x \[u2026]` + "\n" + `.SH "say \(dqhi\(dq"` + "\n"
	if p.String() != want {
		t.Errorf("got %s, want %s", p.String(), want)
	}
}
