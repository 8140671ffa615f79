package job

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Rules are the checks of a definition that depend on how the server is set up.
type Rules struct {
	Prefix              string   // the service's own subjects are no targets; "" checks none
	InboxPrefixes       []string // subjects that begin so are inboxes of clients and no targets, besides those that NATS names itself
	PayloadBytesMax     int      // 0 is PayloadBytesDefault
	AllowPrivateTargets bool     // http targets may name addresses that are closed otherwise, see [ClosedNetwork]
	AllowHandlers       bool     // handler targets exist only in a program that embeds the engine
}

// Validate checks every field of the definition but its schedules and exclusions, which
// [ParseScheduleWith] checks; of those it checks that [Definition.Spec] can hold them. The error is an [*Error] that names the field and says what would be right.
func (d *Definition) Validate(rules Rules) error {
	checks := []func() error{
		func() error { return ValidateTenant(d.Tenant) },
		func() error { return ValidateName(d.Name) },
		func() error { return d.Target.validate(rules) },
		d.Target.validatePlaces,
		func() error { return d.validatePayload(rules) },
		func() error { return validateHeaders(d.Headers) },
		func() error { return validateLabels(d.Labels) },
		func() error { return d.Retry.validate() },
		d.ValidateSchedules,
		d.validateTimes,
		d.validatePolicies,
		func() error { return validateDescription(d.Description) },
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// ValidateName checks the name of a job.
func ValidateName(name string) error {
	if name == "" || len(name) > NameBytesMax {
		return Errorf(CodeInvalidName, "name", "must have 1 to %d characters, has %d", NameBytesMax, len(name))
	}
	if i := indexOutside(name, "._-/"); i >= 0 {
		return Errorf(CodeInvalidName, "name", "has %q at position %d; allowed are A-Z a-z 0-9 . _ - /", name[i], i+1)
	}
	return nil
}

// ValidateTenant checks the name of a tenant, which is one token of a NATS subject.
func ValidateTenant(tenant string) error {
	if tenant == "" || len(tenant) > TenantBytesMax || indexOutside(tenant, "_-") >= 0 {
		return Errorf(CodeInvalidField, "tenant", "%q is no tenant; want 1 to %d of A-Z a-z 0-9 _ -", clip(tenant), TenantBytesMax)
	}
	return nil
}

// indexOutside returns the first place in s that is neither a letter, a digit nor in more; or -1.
func indexOutside(s, more string) int {
	for i := range len(s) {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && strings.IndexByte(more, c) < 0 {
			return i
		}
	}
	return -1
}

func (d *Definition) validatePayload(rules Rules) error {
	most := rules.PayloadBytesMax
	if most == 0 {
		most = PayloadBytesDefault
	}
	if len(d.Payload) > most {
		return Errorf(CodeTooLarge, "payload", "has %d bytes; at most %d are allowed", len(d.Payload), most)
	}
	return nil
}

func (d *Definition) validateTimes() error {
	switch {
	case d.Jitter < 0 || d.Jitter > JitterMax:
		return Errorf(CodeInvalidField, "jitter", "must be between 0s and %s", JitterMax)
	case d.AttemptTimeout < AttemptTimeoutMin || d.AttemptTimeout > AttemptTimeoutMax:
		return Errorf(CodeInvalidField, "attempt_timeout", "must be between %s and %s", AttemptTimeoutMin, AttemptTimeoutMax)
	case d.CatchupWindow < 0 || d.CatchupWindow > CatchupWindowMax:
		return Errorf(CodeInvalidField, "catchup_window", "must be between 0s and 366d")
	}
	return nil
}

func (d *Definition) validatePolicies() error {
	switch {
	case d.Completion == 0:
		return Errorf(CodeInvalidField, "completion", "is missing; want one of %s", joinNames(completionNames[1:]))
	case d.Overlap == 0:
		return Errorf(CodeInvalidField, "overlap_policy", "is missing; want one of %s", joinNames(overlapNames[1:]))
	case d.Missed == 0:
		return Errorf(CodeInvalidField, "missed_run_policy", "is missing; want one of %s", joinNames(missedNames[1:]))
	case d.MaxConcurrent > 0 && d.Overlap != OverlapAllow:
		return Errorf(CodeInvalidField, "max_concurrent", `is for overlap_policy "allow"; with %q one run goes on at a time`, d.Overlap)
	case d.MaxConcurrent > MaxConcurrentMax:
		return Errorf(CodeInvalidField, "max_concurrent", "must be at most %d, or 0 for no limit", MaxConcurrentMax)
	case d.PauseOnFailure > PauseOnFailureMax:
		return Errorf(CodeInvalidField, "pause_on_failure", "must be at most %d, or 0 for never", PauseOnFailureMax)
	case d.MaxCatchupRuns > CatchupRunsMax:
		return Errorf(CodeInvalidField, "max_catchup_runs", "must be at most %d", CatchupRunsMax)
	case d.Missed == MissedBackfill && d.CatchupWindow == 0:
		return Errorf(CodeInvalidField, "catchup_window", `must not be 0s with missed_run_policy "backfill": no tick could ever be caught up`)
	case d.Missed == MissedBackfill && d.MaxCatchupRuns == 0:
		return Errorf(CodeInvalidField, "max_catchup_runs", `must be at least 1 with missed_run_policy "backfill"`)
	}
	return nil
}

func validateDescription(text string) error {
	if len(text) > DescriptionBytesMax {
		return Errorf(CodeTooLarge, "description", "has %d bytes; at most %d are allowed", len(text), DescriptionBytesMax)
	}
	if !utf8.ValidString(text) {
		return Errorf(CodeInvalidField, "description", "must be valid UTF-8")
	}
	return nil
}

func (r Retry) validate() error {
	between := func(field string, d, low, high time.Duration) error {
		if d < low || d > high {
			return Errorf(CodeInvalidField, "retry."+field, "must be between %s and %s", low, high)
		}
		return nil
	}
	if r.MaxAttempts < 1 || r.MaxAttempts > RetryAttemptsMax {
		return Errorf(CodeInvalidField, "retry.max_attempts", "must be between 1 and %d", RetryAttemptsMax)
	}
	if math.IsNaN(r.Multiplier) || r.Multiplier < 1 || r.Multiplier > MultiplierMax {
		return Errorf(CodeInvalidField, "retry.multiplier", "must be between 1 and %d", MultiplierMax)
	}
	if math.IsNaN(r.Jitter) || r.Jitter < 0 || r.Jitter > 1 {
		return Errorf(CodeInvalidField, "retry.jitter", "must be between 0 and 1: it is a share of the interval")
	}
	if err := between("initial_interval", r.InitialInterval, RetryIntervalMin, RetryIntervalMax); err != nil {
		return err
	}
	if err := between("max_interval", r.MaxInterval, r.InitialInterval, RetryIntervalMax); err != nil {
		return err
	}
	return between("max_age", r.MaxAge, 0, RetryAgeMax)
}

func validateLabels(labels []Pair) error {
	if len(labels) > LabelsMax {
		return Errorf(CodeTooLarge, "labels", "has %d entries; at most %d are allowed", len(labels), LabelsMax)
	}
	for _, l := range labels {
		field := "labels." + clip(l.Key)
		switch {
		case l.Key == "" || len(l.Key) > LabelKeyBytesMax || indexOutside(l.Key, "._-/") >= 0:
			return Errorf(CodeInvalidField, field, "key must be 1 to %d of A-Z a-z 0-9 . _ - /", LabelKeyBytesMax)
		case len(l.Value) > LabelValueBytesMax:
			return Errorf(CodeTooLarge, field, "has %d bytes; at most %d are allowed", len(l.Value), LabelValueBytesMax)
		case !isPrintable(l.Value):
			return Errorf(CodeInvalidField, field, "must be valid UTF-8 without control characters")
		}
	}
	return nil
}

// isPrintable tells whether s is valid UTF-8 and has no control character.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return utf8.ValidString(s)
}

// Validate checks what a caller says of himself.
func (a Actor) Validate() error {
	if len(a.By) > ActorBytesMax || !isPrintable(a.By) {
		return Errorf(CodeInvalidField, "by", "must be at most %d bytes of UTF-8 without control characters", ActorBytesMax)
	}
	return nil
}
