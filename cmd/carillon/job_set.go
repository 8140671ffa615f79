package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
)

// jobSetCmd changes single members of a job, and leaves the others as they are.
type jobSetCmd struct {
	Name      string   `arg:"" help:"Name of the job." complete:"@jobs"`
	Members   []string `arg:"" help:"What to change: a member of the definition and its value; without a value it returns to its default." placeholder:"MEMBER=VALUE" complete:"@members"`
	IfVersion *uint32  `help:"Only if the job is at this version." placeholder:"N"`
	remoteFlags
	outputFlag
}

// Help is what `carillon job set --help` says besides the flags.
func (*jobSetCmd) Help() string {
	return `The members are those of 'carillon job get -o json', with a dot before a nested one. Lists, objects and the payload are
JSON. The payload is JSON, any other text, @FILE, or - for standard input, as that of 'carillon job put'. If somebody else changes the job meanwhile, nothing is changed.

Examples:

  carillon job set reports/daily schedule='0 9 * * 1-5'
  carillon job set reports/daily retry.max_attempts=5 attempt_timeout=2m
  carillon job set reports/daily labels.team=billing description=
  carillon job set reports/daily payload='{"format":"pdf"}' 'exclude=["2026-12-24/2026-12-26"]'
  carillon job set reports/daily target=nats:reports.run`
}

// Run implements the command.
func (c *jobSetCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	before, err := r.Get(ctx, c.Name)
	if err != nil {
		return r.orSimilar(ctx, c.Name, err)
	}
	version := before.Version
	if c.IfVersion != nil {
		version = *c.IfVersion
	}
	after, err := setMembers(con, &before, c.Members)
	if err != nil {
		return err
	}
	var reply client.PutReply
	if reply.Job, reply.Created, err = r.PutIfVersion(ctx, after, version); err != nil {
		return err
	}
	if c.isDocument() {
		return c.print(con, reply)
	}
	con.printPut(&before, &reply)
	return nil
}

// setMembers returns the definition of a job with some members replaced. The console reads the payload of a file.
func setMembers(con *console, info *client.JobInfo, assignments []string) (client.Job, error) {
	if info.PayloadOmitted {
		return client.Job{}, fmt.Errorf("%s: its payload does not fit into one message, so a change would lose it; put the whole job", info.Name)
	}
	text, err := json.Marshal(&info.Job, jsonOptions)
	if err != nil {
		return client.Job{}, err
	}
	definition := make(map[string]jsontext.Value)
	if err := json.Unmarshal(text, &definition); err != nil {
		return client.Job{}, err
	}
	for _, assignment := range assignments {
		path, value, found := strings.Cut(assignment, "=")
		if !found {
			return client.Job{}, usagef("%s: want MEMBER=VALUE, such as schedule=@daily", clip(assignment))
		}
		if err := setMember(con, definition, path, value); err != nil {
			return client.Job{}, fmt.Errorf("%s: %w", clip(path), err)
		}
	}
	if text, err = json.Marshal(definition); err != nil {
		return client.Job{}, err
	}
	return decodeJob(text)
}

// rivalMembers are the members of which a job has one: to set one is to leave the others out.
var rivalMembers = map[string]string{
	"schedule": "schedules", "schedules": "schedule", "payload": "payload_base64", "payload_base64": "payload",
}

// setMember replaces one member, or removes it if the text is empty.
func setMember(con *console, definition map[string]jsontext.Value, path, text string) error {
	outer, inner, isNested := strings.Cut(path, ".")
	kind, ok := memberKind(outer)
	switch {
	case !ok || outer == "name":
		return usagef("no member of a job that can be set has this name; want one of %s", strings.Join(memberNames(), ", "))
	case isNested:
		return setNested(definition, outer, inner, text)
	case outer == "target" && !strings.HasPrefix(text, "{"):
		return setTarget(definition, text)
	}
	delete(definition, rivalMembers[outer])
	if outer == "payload" {
		return setPayload(con, definition, text)
	}
	return setValue(definition, outer, text, kind == reflect.String)
}

// setNested replaces a member of a member. Headers and labels have any names, with dots too, so only the first dot
// separates.
func setNested(definition map[string]jsontext.Value, outer, inner, text string) error {
	nested := make(map[string]jsontext.Value)
	switch kind := definition[outer].Kind(); {
	case kind == jsontext.KindBeginObject && outer != "payload":
		if err := json.Unmarshal(definition[outer], &nested); err != nil {
			return err
		}
	case outer != "headers" && outer != "labels":
		return usagef("has no members that can be set; set it as a whole")
	}
	// Of the nested members only numbers and flags of retry and max_in_flight are no texts; a text of JSON there is one.
	isText := outer == "labels" || outer == "headers" && !strings.HasPrefix(text, "{")
	if err := setValue(nested, inner, text, isText); err != nil {
		return err
	}
	value, err := json.Marshal(nested)
	definition[outer] = value
	return err
}

// setTarget replaces the target by one in the short form of --target. Credentials of a web hook that is replaced do not
// follow to another.
func setTarget(definition map[string]jsontext.Value, text string) error {
	target, err := parseTarget(text)
	if err != nil {
		return usagef("%v", err)
	}
	value, err := json.Marshal(target, jsonOptions)
	definition["target"] = value
	return err
}

// setPayload replaces the payload by what a text means for --payload.
func setPayload(con *console, definition map[string]jsontext.Value, text string) error {
	delete(definition, "payload")
	asJSON, asBytes, err := con.readPayload(text, "payload=")
	switch {
	case err != nil:
		return err
	case asJSON != nil:
		definition["payload"] = asJSON
	case asBytes != nil:
		definition["payload_base64"], err = json.Marshal(asBytes)
	}
	return err
}

// setValue sets a member to a text, or to the JSON value that a text is. What is no JSON is a text as well: so are
// times, lengths and words.
func setValue(object map[string]jsontext.Value, name, text string, isText bool) error {
	value := jsontext.Value(strings.TrimSpace(text))
	switch {
	case text == "":
		delete(object, name)
		return nil
	case isText, !value.IsValid():
		var err error
		if value, err = json.Marshal(text); err != nil {
			return fmt.Errorf("is no text: %w", err)
		}
	}
	object[name] = value
	return nil
}

// memberKind returns the kind of a member of a definition, by its name in JSON.
func memberKind(name string) (reflect.Kind, bool) {
	for field := range reflect.TypeFor[client.Job]().Fields() {
		if memberName(field) == name {
			return field.Type.Kind(), true
		}
	}
	return reflect.Invalid, false
}

// memberNames returns the names of the members that can be set.
func memberNames() []string {
	var names []string
	for field := range reflect.TypeFor[client.Job]().Fields() {
		if name := memberName(field); name != "name" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func memberName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
