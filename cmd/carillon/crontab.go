package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// crontabBytesMax bounds a crontab. Real ones are a hundred times smaller.
const crontabBytesMax = 1 << 20

// crontabPlan is how crontabs become jobs.
type crontabPlan struct {
	target string // with placeholders
	zone   string // until a CRON_TZ says otherwise
	system *bool  // whether there is a user column; nil: the path tells
}

// cronPayload is the payload of such a job: all that a worker needs to run the command as cron would.
type cronPayload struct {
	Command string            `json:"command"`
	Stdin   string            `json:"stdin"`
	User    string            `json:"user"`
	Env     map[string]string `json:"env"`
}

// read hands the jobs of a crontab to a sink, in the order of its lines.
func (p *crontabPlan) read(con *console, file string, sink *jobSink) error {
	text, err := con.readInput(file, crontabBytesMax)
	if err != nil {
		return err
	}
	system := isSystemCrontab(file)
	if p.system != nil {
		system = *p.system
	}
	tab := readCrontab(string(text), system, p.zone)
	names, faults := newCronNames(file), tab.faults
	refuse := func(before int) {
		for len(faults) > 0 && faults[0].line < before {
			sink.refuse(place{showFile(file), faults[0].line}, faults[0].reason)
			faults = faults[1:]
		}
	}
	for i := range tab.entries {
		e := &tab.entries[i]
		refuse(e.line)
		at := place{showFile(file), e.line}
		j, err := p.job(e, names)
		if err != nil {
			sink.refuse(at, err.Error())
			continue
		}
		j.Labels = map[string]string{"source": "crontab", "file": fileLabel(file)}
		if err := sink.take(at, j); err != nil {
			return err
		}
	}
	refuse(math.MaxInt)
	return nil
}

// checkCrontabName refuses a table of anacron, whose lines look like those of a crontab here and there.
func checkCrontabName(file string) error {
	if filepath.Base(file) == "anacrontab" {
		return usagef("%s: an anacrontab has another format (period, delay, name, command), which is not supported", file)
	}
	return nil
}

func (p *crontabPlan) job(e *cronEntry, names *cronNames) (client.Job, error) {
	name := names.next(e)
	target, err := parseTarget(fillTarget(p.target, e, names.file))
	if err != nil {
		return client.Job{}, err
	}
	payload, err := json.Marshal(cronPayload{e.command, e.stdin, e.user, e.env}, jsonOptions, json.FormatNilMapAsNull(false))
	return client.Job{Name: name, Schedule: e.schedule, Timezone: e.zone, Target: target, Payload: payload}, err
}

// placeholder finds {{name}} and its kin.
var placeholder = regexp.MustCompile(`\{\{ *([^{}]*?) *\}\}`)

// checkTemplate refuses a target with a placeholder that does not exist.
func checkTemplate(template string) error {
	for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
		switch m[1] {
		case "name", "hash", "user", "file":
		default:
			return usagef("--target: {{%s}} is unknown; want {{name}}, {{hash}}, {{user}} or {{file}}", clip(m[1]))
		}
	}
	if _, err := parseTarget(template); err != nil {
		return usagef("--target: %v", err)
	}
	return nil
}

// fillTarget puts what an entry says in the place of the placeholders, each as one token of a subject.
func fillTarget(template string, e *cronEntry, file string) string {
	return placeholder.ReplaceAllStringFunc(template, func(text string) string {
		switch strings.Trim(text, "{} ") {
		case "name":
			return commandSlug(e.command)
		case "hash":
			return commandHash(e)
		case "user":
			return slug(e.user, commandSlugMax, "none")
		default:
			return file
		}
	})
}

// isSystemCrontab tells by its path whether a crontab has a user column.
func isSystemCrontab(file string) bool {
	path, err := filepath.Abs(file)
	if err != nil || file == "-" {
		return false
	}
	dir, base := filepath.Split(path)
	parent := filepath.Base(dir)
	return parent == "cron.d" || parent == "etc" && base == "crontab"
}

// fileLabel is the name of a crontab as the value of a label: its end, if it is too long for one.
func fileLabel(file string) string {
	if file == "-" {
		return "stdin"
	}
	file = printable(file)
	if over := len(file) - job.LabelValueBytesMax; over > 0 {
		file = strings.ToValidUTF8(file[over:], "")
	}
	return file
}

// localZone is the timezone of this machine by name, which is what cron's times are read in.
func localZone() string {
	if name, set := os.LookupEnv("TZ"); set {
		name = strings.TrimPrefix(name, ":")
		if _, err := job.EmbeddedZones().Location(name); err == nil && name != "" {
			return name
		}
		return "UTC"
	}
	path, _ := os.Readlink("/etc/localtime")
	_, name, found := strings.Cut(path, "zoneinfo/")
	if !found || name == "Etc/UTC" {
		return "UTC"
	}
	return name
}
