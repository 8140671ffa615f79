package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/crontab"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/terminal"
)

// crontabBytesMax bounds a crontab. Real ones are a hundred times smaller. It keeps a wrong path from being read into
// memory.
const crontabBytesMax = 1 << 20

// crontabPlan says how crontabs become jobs. Package crontab reads the file; what becomes of an entry is decided here,
// because it depends on flags.
type crontabPlan struct {
	target string // with placeholders
	host   string // of {{host}}
	user   string // of lines without a user column; "" leaves it to the worker
	set    func(*client.Job)
	zone   string // until a CRON_TZ says otherwise
	system *bool  // whether there is a user column; nil: the path tells
	// isThere reports whether the server has a job of a name with a target, for a user; nil: it is not asked.
	isThere func(name string, target client.Target, user string) bool
	put     map[string]bool // names of the jobs that were read
}

// cronPayload is the payload of such a job: all that a worker needs to run the command as cron would. Its names are
// a contract with workers: one that runs commands needs no other knowledge of Carillon.
type cronPayload struct {
	Command string            `json:"command"`
	Stdin   string            `json:"stdin"`
	User    string            `json:"user"`
	Env     map[string]string `json:"env"`
}

// read passes the jobs and the refused lines of a crontab to a sink, in the order of the lines. A line that is refused
// does not stop the others.
func (p *crontabPlan) read(con *console, file string, sink *jobSink) error {
	text, err := con.readInput(file, crontabBytesMax)
	if err != nil {
		return err
	}
	names := p.names(file)
	for entry, refusal := range p.reader(file).Read(string(text)) {
		if refusal != nil {
			sink.refuse(place{showFile(file), refusal.Line}, lineRefusalText(refusal))
			continue
		}
		at := place{showFile(file), entry.Line}
		j, err := p.job(entry, names)
		if err != nil {
			sink.refuse(at, err.Error())
			continue
		}
		j.Labels = map[string]string{"source": "crontab", "file": fileLabel(file)}
		if p.isOfMachine() {
			j.Labels["host"] = p.host
		}
		if err := sink.take(at, j); err != nil {
			return err
		}
	}
	return nil
}

// isOfMachine reports whether the jobs are for one machine: their target names it.
func (p *crontabPlan) isOfMachine() bool {
	return slices.ContainsFunc(placeholder.FindAllStringSubmatch(p.target, -1), func(m []string) bool { return m[1] == "host" })
}

// crontabNames are the names of the jobs of a crontab, and those that they had before names were of machines and of users: a job that
// is there under its former name keeps it.
type crontabNames struct{ now, former *crontab.Names }

func (p *crontabPlan) names(file string) crontabNames {
	n := crontabNames{crontab.NewNames(file), crontab.NewNames(file)}
	if p.isOfMachine() {
		n.now = crontab.NewMachineNames(file, p.host)
	}
	return n
}

// reader returns the reader of a crontab, which refuses the schedules that a server would refuse. A schedule is
// checked while the line is read, so that its refusal has the number of the line.
func (p *crontabPlan) reader(file string) crontab.Reader {
	r := crontab.Reader{Zone: p.zone, System: file != "-" && crontab.HasUserColumn(file)}
	if p.system != nil {
		r.System = *p.system
	}
	r.Check = func(expr, zone string) error {
		_, err := schedule.Parse(schedule.Spec{Expr: expr, Zone: zone})
		return err
	}
	return r
}

// lineRefusalText adds the flag that helps, where there is one.
func lineRefusalText(refusal *crontab.Refusal) string {
	if errors.Is(refusal, crontab.ErrNoUser) {
		return refusal.Error() + "; a user's own crontab is imported with --no-system"
	}
	return refusal.Error()
}

// checkCrontabName refuses the table of anacron. It goes by the name, because the lines of an anacrontab could be
// taken for those of a crontab.
func checkCrontabName(file string) error {
	if crontab.IsAnacron(file) {
		return usagef("%s: an anacrontab has another format (period, delay, name, command), which is not supported", file)
	}
	return nil
}

// job returns the job of an entry. Calls come in the order of the lines, because the name depends on it. The name is
// derived from the entry, so that a second import updates the job of the first.
func (p *crontabPlan) job(e *crontab.Entry, names crontabNames) (client.Job, error) {
	target, err := parseTarget(p.fillTarget(e, names.now.File()))
	name, former := names.now.Next(p.entryToName(e)), names.former.Next(e)
	if err != nil {
		return client.Job{}, err
	}
	user := cmp.Or(e.User, p.user)
	if p.isThere != nil && name != former && !p.isThere(name, target, user) && p.isThere(former, target, user) {
		name = former
	}
	p.put[name] = true
	payload, err := json.Marshal(cronPayload{e.Command, e.Stdin, user, e.Env}, jsonOptions, json.FormatNilMapAsNull(false))
	j := client.Job{Name: name, Schedule: e.Schedule, Timezone: e.Zone, Target: target, Payload: payload}
	p.set(&j)
	return j, err
}

// entryToName returns what the name of a job depends on: two users may have the same line in their crontabs.
func (p *crontabPlan) entryToName(e *crontab.Entry) *crontab.Entry {
	if e.User != "" {
		return e
	}
	named := *e
	named.User = p.user
	return &named
}

// placeholder matches {{name}} and the other placeholders of a target.
var placeholder = regexp.MustCompile(`\{\{ *([^{}]*?) *\}\}`)

// checkTemplate refuses a target that has an unknown placeholder or is not valid. It runs before a file is read,
// because a wrong target would refuse each line.
func checkTemplate(template string) error {
	for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
		switch m[1] {
		case "name", "hash", "user", "file", "host":
		default:
			return usagef("--target: {{%s}} is unknown; want {{host}}, {{name}}, {{hash}}, {{user}} or {{file}}", clip(m[1]))
		}
	}
	if _, err := parseTarget(template); err != nil {
		return usagef("--target: %v", err)
	}
	return nil
}

// fillTarget replaces the placeholders of a target by what they stand for, each one token of a subject. An unknown
// placeholder cannot occur: checkTemplate has refused it.
func (p *crontabPlan) fillTarget(e *crontab.Entry, file string) string {
	return placeholder.ReplaceAllStringFunc(p.target, func(text string) string {
		switch strings.Trim(text, "{} ") {
		case "name":
			return e.Program()
		case "hash":
			return e.Hash()
		case "user":
			return e.UserToken()
		case "host":
			return p.host
		default:
			return file
		}
	})
}

// fileLabel returns the name of a crontab as the value of a label: the end of the name, if the whole is too long. The
// end says more than the beginning, which is /etc/cron.d/ for many files.
func fileLabel(file string) string {
	if file == "-" {
		return "stdin"
	}
	file = terminal.Printable(file)
	if over := len(file) - job.LabelValueBytesMax; over > 0 {
		file = strings.ToValidUTF8(file[over:], "")
	}
	return file
}

// localZone returns the name of this machine's timezone, in which its cron reads times. If TZ is set, it is the zone
// that TZ names, or UTC if that is unknown; otherwise the zone that /etc/localtime links to, or UTC. Without a zone of
// its own a container runs in UTC, as its cron does.
func localZone() string {
	if name, set := os.LookupEnv("TZ"); set {
		name = strings.TrimPrefix(name, ":")
		if _, err := schedule.EmbeddedZones().Location(name); err == nil && name != "" {
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

// readByCron returns the files that cron would read. In a directory cron.d, cron passes over a name with other characters
// than letters, digits, _ and -, such as those that packages and editors leave behind: backup.dpkg-old, backup~.
func readByCron(con *console, files []string) []string {
	return slices.DeleteFunc(files, func(file string) bool {
		isOdd := filepath.Base(filepath.Dir(file)) == "cron.d" && strings.ContainsFunc(filepath.Base(file), func(c rune) bool {
			return c != '_' && c != '-' && (c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c))
		})
		if isOdd {
			con.notef("%s: left out, as cron leaves out files of cron.d whose names have other characters than letters, digits, _ and -\n", file)
		}
		return isOdd
	})
}
