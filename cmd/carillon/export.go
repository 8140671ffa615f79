package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/carillon-io/carillon/client"
)

// exportCmd writes jobs, or their runs, as JSON lines or as YAML documents. It ignores CARILLON_OUTPUT, so that the
// output can be imported whatever the environment. What it writes can be read by import and apply, also by those of a
// later release.
type exportCmd struct {
	selectFlags
	Runs bool     `help:"The runs of the jobs instead of the jobs, each with its attempts."`
	Job  string   `help:"With --runs: only runs of this job." placeholder:"NAME" complete:"@jobs"`
	From timeFlag `help:"With --runs: scheduled at or after this time." placeholder:"TIME"`
	To   timeFlag `help:"With --runs: scheduled before this time." placeholder:"TIME"`

	File            string `short:"f" help:"File to write, which only its owner can read; standard output if left out." placeholder:"FILE"`
	WithCredentials bool   `help:"Write credentials (headers such as Authorization, tokens in URLs) in clear; they are masked otherwise."`
	remoteFlags

	Output outputForm `short:"o" help:"Format of the output: ${enum}." enum:"json,yaml" default:"json"`
}

// Help is what `carillon export --help` says besides the flags.
func (*exportCmd) Help() string {
	return `Each job is one line in the order of names, and import takes it unchanged. With -o yaml each is one document, and apply takes them. With --runs each run is one line, job by job, the newest first; progress goes to stderr. Fields that the server adds (ids, versions, runs) are left out. The server keeps running; a job that changes during the export is written as it was before or after the change.

Credentials are masked, and a job with a mask has "credentials_masked": the server that it came from accepts it and keeps its credentials; a server without the job refuses it. For a move or a copy, give --with-credentials.

Examples:

  carillon export > jobs.jsonl
  carillon export --with-credentials --file jobs.jsonl
  carillon export -o yaml > jobs.yaml
  carillon export --runs --from 2026-11-01 > runs.jsonl
  carillon export --label team=billing --with-credentials | carillon import - --server nats://other:4222`
}

// Run implements the command.
func (c *exportCmd) Run(ctx context.Context, con *console) error {
	if !c.Runs && (c.Job != "" || !c.From.IsZero() || !c.To.IsZero()) {
		return usagef("--job, --from and --to select runs: give --runs, or --name-prefix for jobs")
	}
	if c.Job != "" && (c.NamePrefix != "" || len(c.Label) > 0 || c.Status != "") {
		return usagef("--job is one job: leave out --name-prefix, --label and --status")
	}
	if c.Runs && c.WithCredentials {
		return usagef("--with-credentials is about jobs: no run has credentials")
	}
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	export := c.exportJobs
	if c.Runs {
		export = c.exportRuns
	}
	if c.File == "" || c.File == "-" {
		// Before the first job is written, so that the command can be interrupted.
		c.warnOfReaders(con)
		return export(ctx, con, r, con.out)
	}
	return writeWhole(c.File, func(w io.Writer) error { return export(ctx, con, r, w) })
}

// warnOfReaders warns if the standard output is a file with credentials that others can read. It only warns, because
// the shell has created the file before this program began.
func (c *exportCmd) warnOfReaders(con *console) {
	f, ok := con.out.(*os.File)
	if !ok || !c.WithCredentials {
		return
	}
	const others = 0o077
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&others != 0 {
		con.notef("the file has credentials in clear, and its mode is %#o: others can read it; --file FILE writes one that they cannot\n", info.Mode().Perm())
	}
}

// exportJobs writes the jobs that the flags select. A payload that the list omits for its size is read with its job.
// The jobs are streamed page by page, so the memory does not grow with their number. It is no snapshot: a job that
// changes meanwhile is exported as it is when its page is read.
func (c *exportCmd) exportJobs(ctx context.Context, con *console, r *remote, w io.Writer) error {
	out, progress := con.bufferedTo(w), con.newStreamProgress("job", "exported")
	n, masked := 0, 0
	request := c.request()
	request.WithCredentials = c.WithCredentials
	for j, err := range r.Jobs(ctx, request) {
		// A job alone may fit into a message that it shared with others in the list.
		if err == nil && j.PayloadOmitted {
			j, err = r.get(ctx, j.Name, c.WithCredentials)
		}
		if err == nil && j.PayloadOmitted {
			err = errNoPayload(j.Name)
		}
		if err == nil {
			err = out.printRecord(c.Output, ownersPart(&j), ownerOptions)
		}
		if err != nil {
			_ = out.flush()
			return fmt.Errorf("export, after %s: %w", plural(n, "job"), err)
		}
		if n++; j.CredentialsMasked {
			masked++
		}
		progress.Of(int64(n), 0)
	}
	// The remark below must not share a line with the bar.
	con.clearBar()
	if masked > 0 {
		con.notef("the credentials of %s are masked: a server that does not have the job refuses it; --with-credentials writes them in clear\n", plural(masked, "job"))
	}
	return out.flush()
}

// errNoPayload says that a job cannot be exported, because the server leaves out its payload. It does so for two reasons,
// which its reply does not tell apart.
func errNoPayload(name string) error {
	return fmt.Errorf("%s: the server does not show its payload: a principal with the role viewer does not see payloads, so export as an operator or an admin; "+
		"for another one the payload does not fit one NATS message, so raise the limit of the NATS server (max_payload)", name)
}

// exportedJob is the JSON of a job in an export. credentials_masked is there only if it is true; an import reads an
// absent one as false.
type exportedJob struct {
	*client.Job
	CredentialsMasked bool `json:"credentials_masked"`
}

// ownersPart returns a job without the fields that the server adds and without empty lists. What the server adds, such
// as versions and times, would be meaningless at another server.
func ownersPart(j *client.JobInfo) exportedJob {
	if len(j.Headers) == 0 {
		j.Headers = nil
	}
	if len(j.Labels) == 0 {
		j.Labels = nil
	}
	return exportedJob{&j.Job, j.CredentialsMasked}
}
