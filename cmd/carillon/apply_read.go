package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// wantedJob is a job of the file. A file that does not mention paused leaves a paused job paused, since pausing is
// often done by hand.
type wantedJob struct {
	// job is as the file has it, with the label of the set.
	job        client.Job
	saysPaused bool // the file sets paused, to true or false
}

// refusals are the mistakes of a file, each with its line.
type refusals []error

// Error implements error.
func (r refusals) Error() string { return errors.Join(r...).Error() }

// refusalsMax bounds the number of mistakes that are reported for one file. More would scroll the first ones away, and
// they are often one mistake repeated.
const refusalsMax = 50

// readWanted reads the jobs of a file, checks them, and gives them the label of a set. Its error is of type refusals
// if jobs are wrong. It reports as many mistakes as it finds instead of the first one, since a file is corrected as a
// whole.
func readWanted(file string, text []byte, set string) ([]wantedJob, error) {
	nodes, err := readNodes(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	w := wantedReader{file: file, set: set, seen: make(map[string]int)}
	for _, node := range nodes {
		w.document(node)
	}
	if len(w.wrong) > 0 {
		return nil, w.wrong
	}
	if len(nodes) == 0 { // such as the output of a program that has failed
		return nil, fmt.Errorf("%s: is empty; a set without jobs is written as []", file)
	}
	return w.jobs, nil
}

// wantedReader collects the jobs of a file and its mistakes. A name may stand in the file once: of two definitions,
// the later one would win unseen.
type wantedReader struct {
	file, set string
	seen      map[string]int // name -> line
	// jobs has those without a mistake; it is used only if wrong is empty.
	jobs  []wantedJob
	wrong refusals
}

// refuse records a mistake in a line, up to refusalsMax of them.
func (w *wantedReader) refuse(line int, format string, args ...any) {
	if len(w.wrong) < refusalsMax {
		w.wrong = append(w.wrong, fmt.Errorf("%s:%d: %w", w.file, line, fmt.Errorf(format, args...)))
	}
}

// document reads a document: a job, a list of jobs, or an object with a list of jobs. An object with both name and
// jobs is a job, whose unknown member jobs is then refused.
func (w *wantedReader) document(node *yaml.Node) {
	list := member(node, "jobs")
	switch {
	case node.Kind == yaml.SequenceNode:
		w.list(node)
	case node.Kind == yaml.MappingNode && list != nil && member(node, "name") == nil:
		for i := 0; i < len(node.Content); i += 2 {
			if key := node.Content[i]; key.Value != "jobs" {
				w.refuse(key.Line, "%s: nothing but the list of jobs may stand beside it", clip(key.Value))
			}
		}
		w.list(list)
	default:
		w.take(node)
	}
}

// list reads a list of jobs.
func (w *wantedReader) list(node *yaml.Node) {
	if node = follow(node); node.Kind != yaml.SequenceNode {
		w.refuse(node.Line, "jobs: want a list of jobs")
		return
	}
	for _, item := range node.Content {
		w.take(follow(item))
	}
}

// take reads one job.
func (w *wantedReader) take(node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		w.refuse(node.Line, "is no job; want an object with a name, a schedule and a target")
		return
	}
	text, err := appendNode(nil, node, 0)
	if err != nil {
		w.refuseAt(node, err)
		return
	}
	// A job that was exported or shown has members of the server, which are known and dropped.
	var info client.JobInfo
	if err := json.Unmarshal(text, &info, json.RejectUnknownMembers(true)); err != nil {
		line := node.Line
		if semantic := (*json.SemanticError)(nil); errors.As(err, &semantic) {
			line = lineOf(node, slices.Collect(semantic.JSONPointer.Tokens()))
		}
		w.refuse(line, "%w", explainJSON(err))
		return
	}
	if info.PayloadOmitted {
		w.refuse(node.Line, "%s: its payload was left out (payload_omitted): put it back first", clip(info.Name))
		return
	}
	w.check(node, info.Job)
}

// check adds a job, unless the server would refuse it or it cannot be in the set. One refusal refuses the whole file,
// because a set is applied as a whole.
func (w *wantedReader) check(node *yaml.Node, j client.Job) {
	if line, ok := w.seen[j.Name]; ok {
		w.refuse(node.Line, "%s: the job is in line %d already", clip(j.Name), line)
		return
	}
	w.seen[j.Name] = node.Line
	if set, ok := j.Labels[setLabel]; ok && set != w.set { // an export has the label of the set that was applied
		set = orDash(terminal.Printable(clip(set)))
		w.refuse(lineOf(node, []string{"labels", setLabel}), "%s: labels.%s: the job is of the set %s, and this one is %s; leave the label out to make it one of this set, or name the set with --set %s",
			j.Name, setLabel, set, w.set, set)
		return
	}
	// A new map, because jobs of a file may share one by an alias.
	labels := map[string]string{setLabel: w.set}
	for k, v := range j.Labels {
		labels[k] = v
	}
	j.Labels = labels
	if e := checkResult(&j, 0).Error; e != nil {
		w.refuse(lineOf(node, strings.Split(e.Field, ".")), "%s: %s", orDash(terminal.Printable(clip(j.Name))), refusalText(e))
		return
	}
	w.jobs = append(w.jobs, wantedJob{job: j, saysPaused: member(node, "paused") != nil})
}

// nodeError is the mistake of one node of a file, with its line. The line is of the file and not of the job, so that
// an editor can jump to it.
type nodeError struct {
	line   int
	reason string
}

// Error implements error.
func (e *nodeError) Error() string { return e.reason }

// refuseAt records a mistake in the line of a nodeError, or in the line of the node for any other error.
func (w *wantedReader) refuseAt(node *yaml.Node, err error) {
	line := node.Line
	if at := (*nodeError)(nil); errors.As(err, &at) {
		line = at.line
	}
	w.refuse(line, "%w", err)
}

// member returns the value of a key of an object; nil if there is none or the node is no object. Of a key that
// occurs twice it returns the first; appendMapping refuses such an object.
func member(node *yaml.Node, name string) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

// lineOf returns the line of the node at a path, or of the last node on the path that exists. The server's errors name
// a field by its path; this turns the path into a line.
func lineOf(node *yaml.Node, path []string) int {
	line := node.Line
	for _, name := range path {
		node = follow(node)
		if node.Kind == yaml.SequenceNode {
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(node.Content) {
				return line
			}
			node = node.Content[i]
			line = node.Line
			continue
		}
		value := member(node, name)
		if value == nil {
			return line
		}
		for i := 0; i < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				line = node.Content[i].Line
			}
		}
		node = value
	}
	return line
}
