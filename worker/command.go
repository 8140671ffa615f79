package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// What cron gives a command that its crontab does not set.
const (
	shellDefault = "/bin/sh"
	pathDefault  = "/usr/bin:/bin"
)

// start starts the command of a permit for a delivery: in a session of its own, as its user, in its directory. The lock is
// inherited as descriptor 3 by all of its processes. The sink reads the output if the worker dies.
func (p *permit) start(d *delivery, held *lock, output *tail, s *sink) (*process, error) {
	as, err := accountOf(p.user)
	if err != nil {
		return nil, err
	}
	env := p.environment(as, d)
	shell := env["SHELL"]
	if !filepath.IsAbs(shell) {
		return nil, fmt.Errorf("the shell %q is no absolute path; want one such as %s", shell, shellDefault)
	}
	cmd := exec.Command(shell, "-c", p.command)
	cmd.Dir = p.directory
	if cmd.Dir == "" {
		cmd.Dir = homeOf(env["HOME"])
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, name+"="+env[name])
	}
	if p.stdin != "" {
		cmd.Stdin = strings.NewReader(p.stdin)
	}
	pipe, err := openOutput(output, s)
	if err != nil {
		return nil, fmt.Errorf("a pipe for the output: %w", err)
	}
	cmd.Stdout, cmd.Stderr = pipe.write, pipe.write
	cmd.ExtraFiles = []*os.File{held.file}
	cmd.WaitDelay = outputDelay
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: as.credential}
	if err := cmd.Start(); err != nil {
		pipe.abandon()
		return nil, whyNotStarted(cmd, as, err)
	}
	pipe.begin()
	return watchProcess(cmd, pipe), nil
}

// whyNotStarted returns the error of a command that was not started. The system names the shell whatever is missing, so this
// looks for the directory.
func whyNotStarted(cmd *exec.Cmd, as account, err error) error {
	info, missing := os.Stat(cmd.Dir)
	switch {
	case missing != nil:
		return fmt.Errorf("start the command: its directory: %w", missing)
	case !info.IsDir():
		return fmt.Errorf("start the command: its directory: %s is no directory", cmd.Dir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("start the command: %s may not enter the directory %s, or may not run %s: %w", as.name, cmd.Dir, cmd.Path, err)
	}
	return fmt.Errorf("start the command: %w", err)
}

// environment returns the variables of a command: those that cron sets, those of the crontab over them, and the run.
// Nothing of the worker's own environment is passed on. LOGNAME and USER are always the user's, as in cron.
func (p *permit) environment(as account, d *delivery) map[string]string {
	env := map[string]string{"SHELL": shellDefault, "PATH": pathDefault, "HOME": as.home}
	maps.Copy(env, p.env)
	if p.shell != "" {
		env["SHELL"] = p.shell
	}
	env["LOGNAME"], env["USER"] = as.name, as.name
	env["CARILLON_JOB"], env["CARILLON_RUN_ID"] = d.job, d.runID
	env["CARILLON_SCHEDULED_AT"], env["CARILLON_ATTEMPT"] = d.scheduledAt, d.attempt
	return env
}

// homeOf returns a home directory, or the root for a user whose home does not exist, as that of a daemon.
func homeOf(home string) string {
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		return "/"
	}
	return home
}
