package main

import "github.com/carillon-io/carillon/client"

// jobPolicyFlags are the flags for the policies of a job: what happens to its runs when something goes wrong. A
// pointer distinguishes a flag that is 0 on purpose from one that was not given.
type jobPolicyFlags struct {
	Completion        string   `help:"When a run is over: delivered (the target accepted it) or reported (a worker reports the outcome); delivered if left out." placeholder:"HOW" complete:"delivered,reported" group:"policies"`
	AttemptTimeout    span     `help:"How long an attempt, or a worker's report, may take; 30s if left out." placeholder:"SPAN" group:"policies"`
	MaxAttempts       uint32   `help:"Attempts of a run, the first included; 3 if left out." placeholder:"N" group:"policies"`
	RetryInterval     span     `help:"Wait after the first failure; 1s if left out." placeholder:"SPAN" group:"policies"`
	RetryMultiplier   float64  `help:"Factor from one wait to the next; 2 if left out." placeholder:"X" group:"policies"`
	RetryJitter       *float64 `help:"Largest random extension of a wait, as a share of it, 0 to 1; 0.1 if left out." placeholder:"X" group:"policies"`
	RetryClientErrors bool     `help:"Retry an answer that blames the request (HTTP 4xx) too." group:"policies"`
	PauseOnFailure    uint32   `help:"Pause the job after this number of dead runs in a row; 0 is never." placeholder:"N" group:"policies"`
	Overlap           string   `help:"When the previous run is still in progress: allow, skip, buffer_one, buffer_all or cancel_other; skip if left out." placeholder:"POLICY" complete:"allow,skip,buffer_one,buffer_all,cancel_other" group:"policies"`
	MaxConcurrent     uint32   `help:"With --overlap allow: runs that may be in progress at a time; 0 is no limit." placeholder:"N" group:"policies"`
	Missed            string   `help:"What to do with missed runs: skip, fire_once or backfill; fire_once if left out." placeholder:"POLICY" complete:"skip,fire_once,backfill" group:"policies"`
	CatchupWindow     *span    `help:"How old a missed run may be; 1h if left out." placeholder:"SPAN" group:"policies"`
	MaxCatchupRuns    *uint32  `help:"Most missed runs that backfill fires; 10 if left out." placeholder:"N" group:"policies"`
}

// setPolicies sets the policies of a job from the flags. The server checks the words. A flag that was not given stays
// zero, which the server reads as its default.
func (f *jobPolicyFlags) setPolicies(j *client.Job) {
	j.Completion, j.AttemptTimeout = f.Completion, client.Duration(f.AttemptTimeout)
	j.Retry = client.Retry{
		MaxAttempts: f.MaxAttempts, InitialInterval: client.Duration(f.RetryInterval), Multiplier: f.RetryMultiplier,
		Jitter: f.RetryJitter, ClientErrors: f.RetryClientErrors,
	}
	j.PauseOnFailure = f.PauseOnFailure
	j.OverlapPolicy, j.MaxConcurrent = f.Overlap, f.MaxConcurrent
	j.MissedRunPolicy, j.CatchupWindow, j.MaxCatchupRuns = f.Missed, (*client.Duration)(f.CatchupWindow), f.MaxCatchupRuns
}
