package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// change is a member of a definition that is another one than before. Nested members have paths, such as
// retry.max_attempts; before and after are JSON texts, "" for a member that is absent.
type change struct {
	path, before, after string
	isReset             bool // it has returned to its default
}

// changesOf returns what differs between two definitions as a server shows them, with their defaults, sorted by path.
// Credentials are masked in both, so a replaced credential is not among the changes.
func changesOf(before, after *client.Job) ([]change, error) {
	from, err := flatten(before)
	if err != nil {
		return nil, err
	}
	to, err := flatten(after)
	if err != nil {
		return nil, err
	}
	minimal, err := fullJob(&client.Job{Name: "a", Schedule: "@daily", Target: client.Target{Kind: "nats", Subject: "a"}})
	if err != nil {
		return nil, err
	}
	defaults, err := flatten(&minimal)
	if err != nil {
		return nil, err
	}
	paths := maps.Clone(from)
	maps.Copy(paths, to)
	var changes []change
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if from[path] != to[path] {
			// A schedule and a target are always given, and have no defaults.
			given := strings.HasPrefix(path, "schedule") || strings.HasPrefix(path, "target.")
			changes = append(changes, change{path, from[path], to[path], !given && to[path] == defaults[path]})
		}
	}
	return changes, nil
}

// flatten returns the members of a definition by their paths. Objects other than the payload are opened, one level deep:
// a definition has no deeper ones. Empty values are left out, so that they equal absent ones.
func flatten(j *client.Job) (map[string]string, error) {
	text, err := json.Marshal(j, jsonOptions)
	if err != nil {
		return nil, err
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	flat := make(map[string]string)
	for name, value := range members {
		if name == "payload" || value.Kind() != jsontext.KindBeginObject {
			addMember(flat, name, value)
			continue
		}
		var nested map[string]jsontext.Value
		if err := json.Unmarshal(value, &nested); err != nil {
			return nil, err
		}
		for inner, value := range nested {
			addMember(flat, name+"."+inner, value)
		}
	}
	return flat, nil
}

// addMember adds a member unless it is empty.
func addMember(flat map[string]string, path string, value jsontext.Value) {
	if text := string(value); !slices.Contains([]string{`""`, "null", "[]", "{}", "false", "0", `"0s"`}, text) {
		flat[path] = text
	}
}

// noteResets says which members a put has returned to their defaults: it replaces the whole job, which is easily forgotten.
func (c *console) noteResets(changes []change) {
	var reset []string
	for _, ch := range changes {
		if ch.isReset {
			reset = append(reset, terminal.Printable(ch.path))
		}
	}
	if len(reset) > 0 {
		c.notef("note: a put replaces the whole job: %s %s to the default; 'carillon job set' changes single members\n", strings.Join(reset, ", "), returned(len(reset)))
	}
}

func returned(n int) string {
	if n == 1 {
		return "has returned"
	}
	return "have returned"
}

// showMember shows a JSON text for people: strings without quotes, long ones cut, and - for none.
func showMember(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) != nil {
		s = text
	}
	return orDash(terminal.Printable(clip(s)))
}

// changesBy returns what a put of one job is about to change, from the job that the server has now. The result is for
// people to look at: it is empty for a new job, and if the present one cannot be read.
func changesBy(before *client.JobInfo, after *client.Job) []change {
	if before.Name == "" || before.PayloadOmitted {
		return nil
	}
	changes, err := changesOf(&before.Job, after)
	if err != nil {
		return nil // the put itself has succeeded
	}
	return changes
}

// printPut prints what a put did, and returns what it changed of a job that was there. Before is the job that the put
// replaced, or empty if that is not known.
func (c *console) printPut(before *client.JobInfo, reply *client.PutReply) (changes []change) {
	verb := "updated"
	if reply.Created {
		verb = "created"
	}
	c.printf("%s %s, version %d, next run %s\n", verb, reply.Job.Name, reply.Job.Version, showNext(&reply.Job))
	if !reply.Created {
		changes = changesBy(before, &reply.Job.Job)
	}
	for _, ch := range changes {
		c.printf("  %s: %s -> %s\n", terminal.Printable(ch.path), showMember(ch.before), showMember(ch.after))
	}
	return changes
}
