package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// setLabel is the label that names the set of a job. It is how a later apply knows which jobs are its own; without it
// --prune could delete the jobs of others. It is a label like any other to the server, so a set survives a backup,
// an export and an older server.
const setLabel = "carillon-apply"

// applyFlags are the flags of apply and diff: the file with the wanted jobs, and what to do with the others. diff and
// apply share it, so that both read a file in the same way. The set is named by the file, so that two files of one
// tenant do not delete each other's jobs.
type applyFlags struct {
	File  string `short:"f" required:"" help:"YAML or JSON with the wanted jobs; - is standard input." placeholder:"FILE"`
	Set   string `help:"Name of the set of jobs in the file; the file's name without its extension if left out." placeholder:"NAME"`
	Prune bool   `help:"Delete the jobs of the set that are not in the file."`
	remoteFlags
	outputFlag
}

// applyCmd creates, updates and deletes jobs until the server has those of a file.
type applyCmd struct {
	applyFlags
	DryRun bool `help:"Change nothing, and show each change as a diff."`
}

// Help is what `carillon apply --help` says besides the flags.
func (*applyCmd) Help() string {
	return `The file is a list of jobs, an object with a list under "jobs", or several YAML documents of one job each. A job that already matches the file is left alone. What a job leaves out returns to its default, except "paused": without it, a paused job stays paused.

Each job gets the label ` + setLabel + `=SET. --prune deletes only jobs that have this label and are not in the file. All jobs are checked before the first change, and jobs are deleted only after all others were put.

Examples:

  carillon apply -f jobs.yaml
  carillon apply -f jobs.yaml --prune --dry-run
  carillon diff -f jobs.yaml --prune
  generate-jobs | carillon apply -f - --set billing --prune`
}

// Run implements the command.
func (c *applyCmd) Run(ctx context.Context, con *console) error {
	_, err := c.apply(ctx, con, c.DryRun)
	return err
}

// diffCmd shows what apply would change.
type diffCmd struct {
	applyFlags
}

// Help is what `carillon diff --help` says besides the flags.
func (*diffCmd) Help() string {
	return `The same as apply --dry-run, except that the exit status is 1 if apply would change anything.

Examples:

  carillon diff -f jobs.yaml
  carillon diff -f jobs.yaml --prune`
}

// Run implements the command.
func (c *diffCmd) Run(ctx context.Context, con *console) error {
	changes, err := c.apply(ctx, con, true)
	if err == nil && changes > 0 {
		return &exitError{exitFailed}
	}
	return err
}

// apply compares the file with the server, and makes the changes unless it is a dry run. It returns the number of
// changes, which a dry run would make. It is not a transaction: after an error the earlier steps stay, and the same
// command carries on, because it compares anew. Deletions come last, so that an interrupted apply leaves too many jobs
// rather than too few.
func (f *applyFlags) apply(ctx context.Context, con *console, dry bool) (changes int, err error) {
	set, err := f.setName()
	if err != nil {
		return 0, err
	}
	text, err := con.readInput(f.File, jobFileBytesMax)
	if err != nil {
		return 0, err
	}
	wanted, err := readWanted(showFile(f.File), text, set)
	if wrong := (refusals)(nil); errors.As(err, &wrong) {
		for _, one := range wrong {
			con.notef("%s\n", oneLine(one.Error()))
		}
		con.notef("nothing was changed\n")
		return 0, errReported
	}
	if err != nil {
		return 0, err
	}
	r, err := f.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer r.close()
	// Everything is read before the first change, so that a connection that breaks while reading changes nothing.
	steps, err := planApply(ctx, r, wanted, set, f.Prune)
	if err != nil {
		return 0, err
	}
	report := &applyReport{con: con, form: f.Output, dry: dry}
	progress := con.newProgress("job", "applied")
	for i := range steps {
		if err = steps[i].carryOut(ctx, r, dry); err != nil {
			err = fmt.Errorf("%s: %w", steps[i].name, err)
			break
		}
		report.add(&steps[i])
		progress.Of(int64(i+1), int64(len(steps)))
	}
	return report.changes(), report.close(err)
}

// setName returns the name of the set, checked as the value of a label.
func (f *applyFlags) setName() (string, error) {
	name := f.Set
	if name == "" && f.File == "-" {
		return "", usagef("standard input has no name: give the set one with --set")
	}
	if name == "" {
		name = filepath.Base(f.File)
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	if name == "" {
		return "", usagef("the file %q has no name without its end: name the set with --set", f.File)
	}
	if err := checkLabel(setLabel, name); err != nil {
		return "", usagef("--set: %q is no name of a set: %v", clip(name), err)
	}
	return name, nil
}

// checkLabel checks a label by the rules of the server. It uses a whole definition, because the rules for labels are
// not exported by themselves.
func checkLabel(key, value string) error {
	d := job.Defaults()
	d.Tenant, d.Name = "default", "x"
	d.Target = job.Target{Kind: job.TargetNATS, Subject: "x"}
	d.Schedule = "@daily"
	d.Labels = []job.Pair{{Key: key, Value: value}}
	return d.Validate(job.Rules{})
}

// applyAction is what is done with a job. The words are part of the JSON of the command.
type applyAction string

const (
	actionCreate applyAction = "created"
	actionUpdate applyAction = "updated"
	// A dry run prints these words too, except for what would change.
	actionKeep   applyAction = "unchanged"
	actionDelete applyAction = "deleted"
)

// wouldBe says in a dry run what would happen to a job.
var wouldBe = map[applyAction]string{
	actionCreate: "would be created", actionUpdate: "would be updated",
	actionKeep: "unchanged", actionDelete: "would be deleted",
}

// applyStep is what apply does with one job. The version makes a put and a deletion conditional, so that a job which
// another caller changed since is neither overwritten nor deleted.
type applyStep struct {
	name string
	// action is decided by planJob, before anything is changed.
	action  applyAction
	wanted  client.Job // zero if it is deleted
	version uint32     // of the job that was compared; 0: the server had none
	diff    string     // "" unless it is an update
}

// errChanged says that a job was changed after it was compared. The server refuses the change because of the version;
// the message of the command says what to do about it.
var errChanged = errors.New("it was changed after it was compared; run the command again")

// applyAgainMost is how long the change of one job is tried again: a shard has a new leader within seconds.
const applyAgainMost = 30 * time.Second

// carryOut makes the change, unless it is a dry run: again while a node says that it cannot at the moment, as where the shard of the
// job is handed over. It leaves a job that was changed after it was compared, and returns errChanged.
func (s *applyStep) carryOut(ctx context.Context, r *remote, dry bool) error {
	if dry || s.action == actionKeep {
		return nil
	}
	err, begun, inDoubt := s.change(ctx, r), time.Now(), false
	for isRefusedForNow(err) && time.Since(begun) < applyAgainMost && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(askedAgain):
			err, inDoubt = s.change(ctx, r), true
		}
	}
	switch {
	case client.IsConflict(err) && inDoubt && s.isDone(ctx, r):
		return nil
	case client.IsConflict(err):
		return errors.Join(errChanged, err)
	}
	return err
}

// change makes the change once. A job to be deleted that is already gone is no error: the result is the wanted one.
func (s *applyStep) change(ctx context.Context, r *remote) (err error) {
	if s.action != actionDelete {
		_, _, err = r.PutIfVersion(ctx, s.wanted, s.version)
		return err
	}
	if _, err = r.DeleteIfVersion(ctx, s.name, s.version); client.IsNotFound(err) {
		return nil
	}
	return err
}

// isDone reports whether the server has the job as it is wanted: a put whose outcome was unknown has taken effect.
func (s *applyStep) isDone(ctx context.Context, r *remote) bool {
	if s.action == actionDelete {
		return false
	}
	has, err := r.get(ctx, s.name, true)
	if err != nil {
		return false
	}
	again, err := planJob(&wantedJob{job: s.wanted, saysPaused: true}, &has)
	return err == nil && again.action == actionKeep
}
