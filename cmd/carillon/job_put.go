package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// jobFileBytesMax bounds a file of jobs that is read as a whole; import has no limit. A larger file is many jobs, for
// which import is made.
const jobFileBytesMax = 8 << 20

// jobPutCmd creates or updates a job. A definition has members without a flag, such as the largest retry interval;
// a file can have them all.
type jobPutCmd struct {
	Name string `arg:"" optional:"" help:"Name of the job." complete:"@jobs"`
	File string `short:"f" help:"JSON file with a job, or an array of jobs, in place of the flags; - is standard input." placeholder:"FILE"`

	Schedule []string `short:"s" help:"Cron of 5 to 7 fields, a macro such as @daily, '@every 10s' or '@at 2026-12-01T08:00:00Z'; may be repeated." placeholder:"SPEC" sep:"none" group:"when"`
	In       *span    `help:"Run once, so long after the server has accepted it, such as 10m; in place of --schedule." placeholder:"SPAN" group:"when"`
	Exclude  []string `short:"x" help:"Exclusion: a date, a range, a cron expression, or '@calendar NAME'; may be repeated." placeholder:"SPEC" sep:"none" group:"when"`
	Timezone string   `short:"z" help:"Timezone of the cron expressions; UTC if left out." placeholder:"ZONE" complete:"@zones" group:"when"`
	StartsAt timeFlag `help:"No run before it." placeholder:"TIME" group:"when"`
	EndsAt   timeFlag `help:"No run at or after it." placeholder:"TIME" group:"when"`
	MaxRuns  uint32   `help:"Number of scheduled runs, with those skipped as overlap, after which the job is completed; 0 is no limit." placeholder:"N" group:"when"`
	Jitter   span     `help:"Delay each run by a part of this time, which is the same for all runs of the job." placeholder:"SPAN" group:"when"`

	Target string `short:"t" help:"nats:SUBJECT, request:SUBJECT, jetstream:SUBJECT or https://HOST/PATH." secret:"url" instead:"--secret-url TENANT/NAME" group:"what"`
	Method string `help:"HTTP method; POST if left out." group:"what"`

	MaxInFlight uint32 `help:"Attempts that may be in flight at the target; further ones wait. Default: the limit of the server." placeholder:"N" group:"what"`

	Payload string            `short:"p" help:"JSON text, any other text, @FILE, or - for standard input." group:"what"`
	Header  map[string]string `short:"H" help:"Header of the message or request; may be repeated." placeholder:"KEY=VALUE" mapsep:"none" group:"what"`

	jobSecretFlags

	jobPolicyFlags

	Paused      bool              `help:"Register it paused."`
	Label       map[string]string `short:"l" help:"Label; may be repeated." placeholder:"KEY=VALUE" complete:"@labels" mapsep:"none"`
	Description string            `help:"Text for people."`
	IfVersion   *uint32           `help:"Only if the job is at this version; 0: only if it does not exist." placeholder:"N"`
	remoteFlags
	outputFlag
}

// Help is what `carillon job put --help` says besides the flags.
func (*jobPutCmd) Help() string {
	return `An existing job is replaced as a whole: what is left out returns to its default.

Examples:

  carillon job put reports/daily --schedule '0 8 * * 1-5' --timezone America/New_York --target nats:reports.run
  carillon job put open --schedule '0 9 * * 1-5' --schedule '0 10 * * 6' --exclude '@calendar holidays' --target nats:doors.open
  carillon job put poll --schedule '@every 10s' --target https://example.com/poll --max-attempts 5 --header X-Team=billing
  carillon job put remind/41 --in 10m --target nats:reminders --payload '{"user":41}'
  carillon job put remind/42 --schedule '@at 2026-12-01T08:00:00Z' --target jetstream:reminders --payload '{"user":42}'
  carillon job put bill --schedule '@daily' --target https://example.com/bill --secret-header Authorization=default/bill --sign default/bill-key
  carillon job put hello --schedule @hourly --target nats:hello --payload @hello.json --label team=web
  carillon job put -f job.json`
}

// Run implements the command.
func (c *jobPutCmd) Run(ctx context.Context, con *console) error {
	jobs, err := c.jobs(con)
	if err != nil {
		return err
	}
	remote, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer remote.close()
	for i := range jobs {
		err = errors.Join(err, c.put(ctx, con, remote, jobs[i]))
	}
	return err
}

// put creates or updates one job and prints what happened. It reads the job first, to tell what the put has changed.
func (c *jobPutCmd) put(ctx context.Context, con *console, r *remote, j client.Job) (err error) {
	var (
		before client.JobInfo
		reply  client.PutReply
	)
	if !c.isDocument() {
		before, _ = r.Get(ctx, j.Name) // what cannot be read is not told; the put itself says what is wrong
	}
	if c.IfVersion != nil {
		reply.Job, reply.Created, err = r.PutIfVersion(ctx, j, *c.IfVersion)
	} else {
		reply.Job, reply.Created, err = r.Put(ctx, j)
	}
	if err != nil {
		return err
	}
	if c.isDocument() {
		return c.print(con, reply)
	}
	con.noteResets(con.printPut(&before, &reply))
	return nil
}

// jobs returns the jobs to put: those of the file, or the one of the flags. Of a file each job is put by itself, so
// one that is refused does not keep the others out.
func (c *jobPutCmd) jobs(con *console) ([]client.Job, error) {
	if c.File == "" {
		j, err := c.job(con)
		return []client.Job{j}, err
	}
	// The flags that say most of a job. Beside a file, no flag of a job has an effect.
	if c.Name != "" || len(c.Schedule) > 0 || c.In != nil || c.Target != "" || c.Payload != "" {
		return nil, usagef("--file stands for the whole job: leave out the name, --schedule, --target and --payload")
	}
	text, err := con.readInput(c.File, jobFileBytesMax)
	if err != nil {
		return nil, err
	}
	jobs, err := decodeJobs(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", showFile(c.File), err)
	}
	return jobs, err
}

// decodeJobs reads a job or an array of jobs.
func decodeJobs(text []byte) ([]client.Job, error) {
	text = bytes.TrimSpace(text)
	// An empty text goes to decodeJob too, whose error says what is missing.
	if len(text) == 0 || text[0] != '[' {
		j, err := decodeJob(text)
		return []client.Job{j}, err
	}
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	_, _ = dec.ReadToken()
	var jobs []client.Job
	// One value at a time, so that an error can name the job by its number.
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return nil, explainJSON(err)
		}
		j, err := decodeJob(value)
		if err != nil {
			return nil, fmt.Errorf("job %d: %w", len(jobs)+1, err)
		}
		jobs = append(jobs, j)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, explainJSON(err)
	}
	return jobs, nil
}

// job builds the job that the flags describe.
func (c *jobPutCmd) job(con *console) (client.Job, error) {
	switch {
	case c.Name == "":
		return client.Job{}, usagef("want the name of the job, or --file FILE")
	case len(c.Schedule) == 0 && c.In == nil:
		return client.Job{}, usagef("want --schedule, such as --schedule '0 8 * * 1-5' or --schedule '@every 10s', or --in, such as --in 10m")
	case len(c.Schedule) > 0 && c.In != nil:
		return client.Job{}, usagef("want --schedule or --in, not both")
	case c.In != nil && time.Duration(*c.In) > schedule.InMax:
		return client.Job{}, usagef("--in: is out of range; want at most %dd", schedule.InMax/(24*time.Hour))
	case c.Target == "" && c.SecretURL == "":
		return client.Job{}, usagef("want --target: nats:SUBJECT, request:SUBJECT, jetstream:SUBJECT or https://HOST/PATH")
	case c.Target != "" && c.SecretURL != "":
		return client.Job{}, usagef("want --target or --secret-url, not both")
	}
	target, err := c.target()
	if err != nil {
		return client.Job{}, err
	}
	// A method for a target without one is refused by the server, which knows the kinds.
	target.Method, target.MaxInFlight = strings.ToUpper(c.Method), c.MaxInFlight
	j := client.Job{
		Name: c.Name, Exclude: c.Exclude, Timezone: c.Timezone, StartsAt: c.StartsAt.Time, EndsAt: c.EndsAt.Time,
		MaxRuns: c.MaxRuns, Jitter: client.Duration(c.Jitter), Target: target, Headers: c.headers(c.Header),
		Paused: c.Paused, Labels: c.Label, Description: c.Description,
	}
	j.Schedule, j.Schedules = oneOrSeveral(c.Schedule)
	if c.In != nil {
		j.Schedule = client.In(time.Duration(*c.In))
	}
	c.setPolicies(&j)
	j.Payload, j.PayloadBase64, err = con.readPayload(c.Payload, "--payload ")
	return j, err
}

// target returns the target of the flags.
func (c *jobPutCmd) target() (client.Target, error) {
	target := client.Target{Kind: "http"}
	if c.Target != "" {
		var err error
		if target, err = parseTarget(c.Target); err != nil {
			return target, usagef("--target: %v", err)
		}
	}
	c.setIn(&target)
	return target, nil
}

// oneOrSeveral returns schedules for the two fields of a job: one by itself, or several as a list.
func oneOrSeveral(schedules []string) (one string, several []string) {
	if len(schedules) == 1 {
		return schedules[0], nil
	}
	return "", schedules
}

// jsonFault says why a text is not valid JSON, and where.
func jsonFault(text jsontext.Value) string {
	again := text.Clone()
	err := again.Compact()
	return strings.TrimPrefix(oneLine(fmt.Sprint(err)), "jsontext: ")
}

// readPayload returns the payload of --payload: as JSON if it is valid JSON, else as bytes. JSON is recognised by its
// content, so that a payload of a number or a quoted text becomes JSON as well; text that must stay bytes and is valid
// JSON needs the API. Text on the command line that begins like an object or an array is meant as JSON: if it is not
// valid, it is refused, because a shell has probably taken its quotes. Flag is what stands before the text
// on the command line, such as "--payload ".
func (c *console) readPayload(text, flag string) (asJSON, asBytes []byte, err error) {
	content := []byte(text)
	isArgument := !strings.HasPrefix(text, "@") && text != "-"
	if file, found := strings.CutPrefix(text, "@"); found || text == "-" {
		if text == "-" {
			file = "-"
		}
		if content, err = c.readInput(file, job.PayloadBytesCeiling); err != nil {
			return nil, nil, fmt.Errorf("payload: %w", err)
		}
	}
	switch value := jsontext.Value(bytes.TrimSpace(content)); {
	case len(content) == 0:
		return nil, nil, nil
	// value is without the spaces around it, as the API keeps it.
	case value.IsValid():
		return value, nil, nil
	case isArgument && len(value) > 0 && (value[0] == '{' || value[0] == '['):
		return nil, nil, usagef("the payload begins like JSON and is not valid: %s; want JSON in single quotes, such as %s'{\"n\":1}', or %s@FILE for text that is no JSON", jsonFault(value), flag, flag)
	default:
		return nil, content, nil
	}
}
