package main

import (
	"context"
	"iter"
	"strings"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/crontab"
)

// importCmd registers jobs in bulk. A file is read while it is sent, so it may be larger than memory; apply reads
// its file as a whole.
type importCmd struct {
	Files    []string `arg:"" optional:"" name:"file" help:"Files of JSON lines, one job each; - is standard input. With --crontab: more crontabs." complete:"@files"`
	Crontab  string   `help:"Import a crontab; - is standard input." placeholder:"FILE"`
	System   *bool    `negatable:"" help:"The crontab has a user column. Default: by its path, as for /etc/crontab and cron.d."`
	Target   string   `help:"Target of the jobs of a crontab, in place of a worker's; may contain {{host}}, {{name}}, {{hash}}, {{user}} and {{file}}. The policies are then the server's defaults." placeholder:"TARGET" secret:"url" instead:"a definition in a file, with a secret by reference"`
	Host     string   `help:"Machine whose 'carillon worker' runs the commands of a crontab; this one if left out." placeholder:"NAME"`
	User     string   `help:"User of the commands of a crontab that has no user column." placeholder:"NAME"`
	Timezone string   `help:"Timezone of the crontab's times until a CRON_TZ; this machine's if left out." placeholder:"ZONE" complete:"@zones"`
	DryRun   bool     `help:"Check and show the jobs; register none."`
	crontabPolicyFlags
	remoteFlags
	outputFlag

	isForWorker bool // no target was given
	isLocal     bool // no timezone was given, and the crontabs are read in this machine's
}

// Help is what `carillon import --help` says besides the flags.
func (*importCmd) Help() string {
	return `Existing jobs are updated. A job that is refused is reported with its line and the reason; the others are imported, and the exit status is 1.

The jobs of a crontab are for 'carillon worker' on the machine: each run is one attempt, which the worker reports, and is skipped while the one before is in progress.

Examples:

  carillon export > jobs.jsonl
  carillon import jobs.jsonl
  carillon import --crontab /etc/crontab
  carillon import --crontab /etc/cron.d/* --host web-1
  carillon import --crontab my.cron --user backup --overlap buffer_one --missed skip
  carillon import --crontab /etc/cron.d/* --target 'nats:cron.{{file}}.{{name}}'
  crontab -l | carillon import --crontab - --timezone Europe/Berlin --dry-run`
}

// registrar puts jobs and calls each with the result of every job, in their order: PutAll of the client, or the
// rehearsal of a dry run. The results come in the order of the jobs, which the report relies on.
type registrar func(ctx context.Context, jobs iter.Seq[client.Job], each func(client.PutResult)) (client.PutTotals, error)

// Run implements the command. The files are read while requests are under way, so an import of any size needs little
// memory. An error in a file ends the reading; what was read before it is imported.
func (c *importCmd) Run(ctx context.Context, con *console) error {
	if err := c.check(); err != nil {
		return err
	}
	read, files := readJobLines, c.Files
	var plan *crontabPlan
	if c.Crontab != "" {
		plan = c.crontabs()
		read, files = plan.read, readByCron(con, c.allFiles())
		if err := checkSameNames(files); err != nil {
			return err
		}
	}
	report := newImportReport(con, c)
	put, stay := registrar(report.rehearse), pausedJobs{}
	if !c.DryRun {
		remote, err := c.connect(ctx)
		if err != nil {
			return err
		}
		defer remote.close()
		put = remote.PutAll
		if c.Crontab != "" {
			stay.client, plan.isThere = remote.Client, remote.isThere(ctx)
		}
	}
	var readErr error
	jobs := func(yield func(client.Job) bool) {
		for _, file := range files {
			// The registrar calls this sequence on its own goroutine, so readErr is set before it returns.
			if readErr = read(con, file, report.into(stay.keeping(ctx, yield))); readErr != nil {
				return
			}
		}
	}
	_, err := put(ctx, jobs, report.result)
	if err == nil {
		err = readErr
	}
	if err == nil && c.Crontab != "" && report.accepted+report.refused == 0 {
		return usagef("no line with a job in %s; want lines such as '0 8 * * * command'", strings.Join(c.allFiles(), ", "))
	}
	c.note(con, stay.kept)
	if err == nil && stay.client != nil {
		err = plan.noteGone(ctx, con, stay.client, files)
	}
	return report.close(err)
}

// note says what the user may not expect of an import of crontabs, of which some jobs were kept paused.
func (c *importCmd) note(con *console, kept int) {
	if c.isLocal {
		con.notef("note: times without a CRON_TZ are those of %s, the timezone of this machine (--timezone ZONE for another)\n", localZone())
	}
	if kept > 0 {
		con.notef("note: paused before, and left so: %s; 'carillon job resume NAME' lets one go on\n", plural(kept, "job"))
	}
}

// check finds mistakes in the flags before a file is read. A mistake in the flags of a long import is thus reported
// before the first job is put.
func (c *importCmd) check() error {
	if c.Crontab == "" && len(c.Files) == 0 {
		return usagef("want a file of JSON lines (- is standard input), or --crontab FILE")
	}
	if c.Crontab == "" {
		if name := c.crontabOnly(); name != "" {
			return usagef("%s is for crontabs; want --crontab FILE, or leave it out: JSON lines have all that a job says", name)
		}
		return checkFiles(c.Files)
	}
	for _, file := range c.allFiles() {
		if err := checkCrontabName(file); err != nil {
			return err
		}
	}
	if c.Target == "" {
		c.Target = workerTarget
		c.isForWorker = true
	}
	if c.Host == "" {
		c.Host = hostToken()
	}
	if err := checkTemplate(c.Target); err != nil {
		return err
	}
	return checkFiles(c.allFiles())
}

// allFiles returns the files to be read, in their order.
func (c *importCmd) allFiles() []string {
	if c.Crontab == "" {
		return c.Files
	}
	return append([]string{c.Crontab}, c.Files...)
}

// crontabs returns how the flags say that crontabs become jobs.
func (c *importCmd) crontabs() *crontabPlan {
	plan := &crontabPlan{target: c.Target, host: crontab.HostToken(c.Host), user: c.User, zone: c.Timezone, system: c.System, set: c.setJob, put: make(map[string]bool)}
	if plan.zone == "" {
		plan.zone, c.isLocal = localZone(), true
	}
	return plan
}
