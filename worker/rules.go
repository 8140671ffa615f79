package worker

import (
	"fmt"
	"time"
)

// permit is a command that may run, and how.
type permit struct {
	command   string
	stdin     string            // "" is none
	user      string            // "": the user of the worker
	directory string            // "": the home directory
	shell     string            // "": SHELL of env, or that of cron
	env       map[string]string // over what cron sets
	timeout   time.Duration     // 0: none
	success   []int             // exit statuses that are a success besides 0
	from      string            // what allows it, for the log
	isExact   bool              // of commands, and not of a crontab
}

// Rules are the commands that a worker may run. They do not change; [ReadRules] makes them. Safe for concurrent use.
type Rules struct {
	path     string
	permits  map[selector][]*permit
	count    int
	crontabs []string // paths and patterns of crontabs, as the file has them
}

// selector is the part of a command by which a job selects it.
type selector struct{ command, stdin string }

// matching returns the crontabs that there are now.
func (r *Rules) matching() (files []string) {
	for _, path := range r.crontabs {
		found, _ := crontabsOf(path)
		files = append(files, found...)
	}
	return files
}

// Len returns the number of commands.
func (r *Rules) Len() int { return r.count }

func (r *Rules) add(p *permit) {
	if r.permits == nil {
		r.permits = make(map[selector][]*permit)
	}
	by := selector{p.command, p.stdin}
	r.permits[by] = append(r.permits[by], p)
	r.count++
}

// notAllowedError is why a command may not run. The same request would fail again.
type notAllowedError struct{ text string }

// Error implements error.
func (e *notAllowedError) Error() string { return e.text }

func notAllowed(format string, args ...any) error {
	return &notAllowedError{fmt.Sprintf(format, args...)}
}

// find returns the permit for what a job asks: the same command with the same input, as the same user. The job's variables
// only choose among several lines of crontabs; they are never passed on.
func (r *Rules) find(want *order) (*permit, error) {
	var found *permit
	all := r.permits[selector{want.Command, want.Stdin}]
	for _, p := range all {
		if want.User != "" && want.User != p.runsAs() {
			continue
		}
		switch {
		case found == nil:
			found = p
		case found.runsAs() != p.runsAs():
			return nil, notAllowed("%s allows the command %q as %s and as %s, and the job names no user; import its crontab with --user", r.path, clip(want.Command), found.runsAs(), p.runsAs())
		case p.isExact && !found.isExact, p.isExact == found.isExact && p.matches(want) && !found.matches(want):
			found = p
		}
	}
	switch {
	case found == nil && len(all) > 0:
		return nil, notAllowed("%s allows the command %q as %s, and not as %s", r.path, clip(want.Command), all[0].runsAs(), clip(want.User))
	case found == nil:
		return nil, notAllowed("the command %q is not in %s; add it to commands, or its file to crontabs", clip(want.Command), r.path)
	case found.isExact:
		return found, found.checkEnvironment(want, r.path)
	}
	return found, nil
}

// runsAs returns the user as whom the command runs.
func (p *permit) runsAs() string {
	if p.user == "" {
		return ownUser()
	}
	return p.user
}

// matches reports whether a line of a crontab has the variables of the job.
func (p *permit) matches(want *order) bool {
	if len(p.env) != len(want.Env) {
		return false
	}
	for name, value := range want.Env {
		if have, ok := p.env[name]; !ok || have != value {
			return false
		}
	}
	return true
}

// checkEnvironment refuses variables that the allow file does not set to the same values: the command would run in
// another environment than the job says, or in one that its sender chose. Those for cron's mail alone are not looked at.
func (p *permit) checkEnvironment(want *order, path string) error {
	for name, value := range want.Env {
		switch have, ok := p.env[name]; {
		case name == "MAILTO", name == "MAILFROM", name == "CONTENT_TYPE", name == "CONTENT_TRANSFER_ENCODING":
		case name == "SHELL" && (value == p.shell || !ok && p.shell == "" && value == shellDefault):
		case !ok:
			return notAllowed("the job sets %s=%q, and %s (%s) does not; add it to env there", clip(name), clip(value), path, p.from)
		case have != value:
			return notAllowed("the job sets %s=%q, and %s (%s) sets %q; make them the same", clip(name), clip(value), path, p.from, clip(have))
		}
	}
	return nil
}
