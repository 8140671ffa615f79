package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// jobEditCmd opens the definition of a job in an editor, and puts what comes back.
type jobEditCmd struct {
	Name string `arg:"" help:"Name of the job." complete:"@jobs"`
	remoteFlags
}

// Help is what `carillon job edit --help` says besides the flags.
func (*jobEditCmd) Help() string {
	return `The editor is $VISUAL, $EDITOR or vi. It gets the definition as YAML; an empty file or one without a change changes nothing.
What the server refuses is opened again, with the reason above it. Masked credentials stay as they are.

Examples:

  carillon job edit reports/daily
  EDITOR='code --wait' carillon job edit reports/daily`
}

// editsMax bounds how often a refused definition is opened again.
const editsMax = 20

// Run implements the command.
func (c *jobEditCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	before, err := r.Get(ctx, c.Name)
	if err != nil {
		return r.orSimilar(ctx, c.Name, err)
	}
	if before.PayloadOmitted {
		return fmt.Errorf("%s: its payload does not fit into one message, so a change would lose it; put the whole job", c.Name)
	}
	dir, err := os.MkdirTemp("", "carillon-edit-")
	if err != nil {
		return err
	}
	e := jobEditor{con: con, remote: r, before: &before, file: filepath.Join(dir, "job.yaml")}
	if err := e.run(ctx); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// jobEditor is one run of the editor, or several for a definition that is refused. The file stays if the command fails:
// it has what a person wrote.
type jobEditor struct {
	con    *console
	remote *remote
	before *client.JobInfo
	file   string
}

// run edits until the definition is put, or nothing has changed.
func (e *jobEditor) run(ctx context.Context) error {
	text, err := e.definition()
	if err != nil {
		return err
	}
	original, why := text, ""
	for range editsMax {
		edited, err := e.edit(ctx, text, why)
		switch {
		case err != nil:
			return err
		case len(bytes.TrimSpace(edited)) == 0, bytes.Equal(edited, original):
			e.con.notef("nothing was changed\n")
			return nil
		case why != "" && bytes.Equal(edited, text):
			return fmt.Errorf("%s; the definition is in %s", why, e.file)
		}
		if err = e.put(ctx, edited); err == nil {
			return nil
		}
		if !isCorrectable(err) {
			return fmt.Errorf("%w; the definition is in %s", err, e.file)
		}
		text, why = edited, err.Error()
	}
	return fmt.Errorf("%s; the definition is in %s", why, e.file)
}

// isCorrectable reports whether another definition may be accepted.
func isCorrectable(err error) bool {
	refusal := (*client.Error)(nil)
	if !errors.As(err, &refusal) {
		return !errors.Is(err, context.Canceled)
	}
	return !client.IsConflict(err) && !errors.Is(err, client.CodeForbidden) && !errors.Is(err, client.CodeUnavailable)
}

// definition returns the definition of the job as YAML.
func (e *jobEditor) definition() ([]byte, error) {
	text, err := json.Marshal(&e.before.Job, jsonOptions)
	if err != nil {
		return nil, err
	}
	return yamlOf(text)
}

// edit lets a person edit a text below some comment lines, and returns the text without them.
func (e *jobEditor) edit(ctx context.Context, text []byte, why string) ([]byte, error) {
	head := fmt.Sprintf("# The job %s, version %d. An empty file changes nothing.\n", e.before.Name, e.before.Version)
	if why != "" {
		head += "# Refused: " + strings.ReplaceAll(terminal.Printable(why), "\n", "\n#   ") + "\n"
	}
	if err := os.WriteFile(e.file, append([]byte(head), text...), 0o600); err != nil {
		return nil, err
	}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if editor == "" {
		if !terminal.IsTerminal(e.con.out) {
			return nil, usagef("there is no terminal for an editor: set EDITOR, or change the job with 'carillon job set'")
		}
		editor = "vi"
	}
	// A shell, because the variables contain arguments. The file is an argument of the shell, and not part of its text.
	command := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, editor, e.file)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, e.con.out, e.con.err
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("the editor %s: %w; the definition is in %s", editor, err, e.file)
	}
	edited, err := e.con.readInput(e.file, jobFileBytesMax)
	for err == nil && bytes.HasPrefix(edited, []byte("#")) {
		_, edited, _ = bytes.Cut(edited, []byte("\n"))
	}
	return edited, err
}

// put registers an edited definition, if the job is still at the version that was read.
func (e *jobEditor) put(ctx context.Context, text []byte) error {
	nodes, err := readNodes(text)
	if err != nil {
		return err
	}
	if len(nodes) != 1 {
		return fmt.Errorf("has %s; want one job", plural(len(nodes), "document"))
	}
	definition, err := appendNode(nil, nodes[0], 0)
	if err != nil {
		return err
	}
	j, err := decodeJob(definition)
	if err != nil {
		return err
	}
	if j.Name != e.before.Name {
		return fmt.Errorf("name: is %s; want %s, because a job keeps its name (put a new one, and delete this one)", clip(j.Name), e.before.Name)
	}
	var reply client.PutReply
	if reply.Job, reply.Created, err = e.remote.PutIfVersion(ctx, j, e.before.Version); err != nil {
		return err
	}
	e.con.printPut(e.before, &reply)
	return nil
}
