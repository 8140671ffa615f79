package job

import (
	"math"
	"time"
	"unicode/utf8"

	"github.com/carillon-io/carillon/apierr"
)

// Rules are the checks of a definition that depend on the configuration of the server. The zero value is the
// strictest set that needs no configuration, with the default bound of payloads. They are copied; the slices must not
// be changed after that.
type Rules struct {
	Prefix              string   // the service's own subjects cannot be targets; "" checks none
	InboxPrefixes       []string // prefixes of client inboxes, which cannot be targets, besides those that NATS itself uses
	PayloadBytesMax     int      // 0 means PayloadBytesDefault
	AllowPrivateTargets bool     // http targets may have addresses that are closed otherwise, see [ClosedNetwork]
	AllowHandlers       bool     // handler targets exist only in a program that embeds the engine
	Secrets             bool     // definitions may name secrets

	// Targets returns the targets that the jobs of a tenant may have; AllowPrivateTargets opens addresses besides. It
	// is called at each check, from many goroutines, and returns what holds at that moment. nil: no tenant is
	// restricted.
	Targets func(tenant string) Targets
}

// Validate checks every field of the definition, except its schedules and exclusions, which [schedule.ParseWith]
// checks; of those it only checks that [Definition.Spec] can hold them. The error is an [*apierr.Error] that names
// the field and says what would be right. It stops at the first error, so the order is that in which a caller would
// correct a definition: what it is called, where it goes, what it carries, when it runs.
func (d *Definition) Validate(rules Rules) error {
	checks := []func() error{
		func() error { return ValidateTenant(d.Tenant) },
		func() error { return ValidateName(d.Name) },
		d.refuseSight,
		func() error { return d.Target.validate(d.Tenant, rules) },
		d.Target.validatePlaces,
		func() error { return d.validateSecrets(rules) },
		func() error { return d.validatePayload(rules) },
		func() error { return validateHeaders(d.allHeaders()) },
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
	// In front of such a character are single bytes alone, so that its place is the same in bytes and in characters.
	if i := apierr.IndexOutside(name, "._-/"); i >= 0 {
		outside, _ := utf8.DecodeRuneInString(name[i:])
		return apierr.Errorf(apierr.InvalidName, "name", "has %q at position %d; allowed are A-Z a-z 0-9 . _ - /", outside, i+1)
	}
	if name == "" || len(name) > NameBytesMax {
		return apierr.Errorf(apierr.InvalidName, "name", "must have 1 to %d characters, has %d", NameBytesMax, len(name))
	}
	return nil
}

// ValidateTenant checks the name of a tenant, which is one token of a NATS subject. A dot would make it two tokens of
// a subject, and a permission for one tenant would then not cover it or cover another.
func ValidateTenant(tenant string) error {
	if tenant == "" || len(tenant) > TenantBytesMax || apierr.IndexOutside(tenant, "_-") >= 0 {
		return apierr.Errorf(apierr.InvalidField, "tenant", "%q is no tenant; want 1 to %d of A-Z a-z 0-9 _ -", apierr.Clip(tenant), TenantBytesMax)
	}
	return nil
}

func (d *Definition) validatePayload(rules Rules) error {
	most := rules.PayloadBytesMax
	if most == 0 {
		most = PayloadBytesDefault
	}
	if len(d.Payload) > most {
		return apierr.Errorf(apierr.TooLarge, "payload", "has %d bytes; at most %d are allowed", len(d.Payload), most)
	}
	return nil
}

// validateTimes checks the durations that are no part of the retry policy.
func (d *Definition) validateTimes() error {
	switch {
	case d.Jitter < 0 || d.Jitter > JitterMax:
		return apierr.Errorf(apierr.InvalidField, "jitter", "must be between 0s and %s", JitterMax)
	case d.AttemptTimeout < AttemptTimeoutMin || d.AttemptTimeout > AttemptTimeoutMax:
		return apierr.Errorf(apierr.InvalidField, "attempt_timeout", "must be between %s and %s", AttemptTimeoutMin, AttemptTimeoutMax)
	case d.CatchupWindow < 0 || d.CatchupWindow > CatchupWindowMax:
		return apierr.Errorf(apierr.InvalidField, "catchup_window", "must be between 0s and 366d")
	}
	return nil
}

// validatePolicies checks each policy and refuses pairs of fields that contradict each other, because one of them
// would have no effect, and the caller would learn that only from missing runs.
func (d *Definition) validatePolicies() error {
	switch {
	case d.Completion == 0:
		return apierr.Errorf(apierr.InvalidField, "completion", "is missing; want one of %s", joinNames(completionNames[1:]))
	case d.Overlap == 0:
		return apierr.Errorf(apierr.InvalidField, "overlap_policy", "is missing; want one of %s", joinNames(overlapNames[1:]))
	case d.Missed == 0:
		return apierr.Errorf(apierr.InvalidField, "missed_run_policy", "is missing; want one of %s", joinNames(missedNames[1:]))
	case d.MaxConcurrent > 0 && d.Overlap != OverlapAllow:
		return apierr.Errorf(apierr.InvalidField, "max_concurrent", `is for overlap_policy "allow"; with %q one run goes on at a time`, d.Overlap)
	case d.MaxConcurrent > MaxConcurrentMax:
		return apierr.Errorf(apierr.InvalidField, "max_concurrent", "must be at most %d, or 0 for no limit", MaxConcurrentMax)
	case d.PauseOnFailure > PauseOnFailureMax:
		return apierr.Errorf(apierr.InvalidField, "pause_on_failure", "must be at most %d, or 0 for never", PauseOnFailureMax)
	case d.MaxCatchupRuns > CatchupRunsMax:
		return apierr.Errorf(apierr.InvalidField, "max_catchup_runs", "must be at most %d", CatchupRunsMax)
	case d.Missed == MissedBackfill && d.CatchupWindow == 0:
		return apierr.Errorf(apierr.InvalidField, "catchup_window", `must not be 0s with missed_run_policy "backfill": no tick could ever be caught up`)
	case d.Missed == MissedBackfill && d.MaxCatchupRuns == 0:
		return apierr.Errorf(apierr.InvalidField, "max_catchup_runs", `must be at least 1 with missed_run_policy "backfill"`)
	}
	return nil
}

func validateDescription(text string) error {
	if len(text) > DescriptionBytesMax {
		return apierr.Errorf(apierr.TooLarge, "description", "has %d bytes; at most %d are allowed", len(text), DescriptionBytesMax)
	}
	if !utf8.ValidString(text) {
		return apierr.Errorf(apierr.InvalidField, "description", "must be valid UTF-8")
	}
	return nil
}

// validate checks the bounds of a retry policy. NaN is refused by name, because every comparison with it is false.
func (r Retry) validate() error {
	between := func(field string, d, low, high time.Duration) error {
		if d < low || d > high {
			return apierr.Errorf(apierr.InvalidField, "retry."+field, "must be between %s and %s", low, high)
		}
		return nil
	}
	if r.MaxAttempts < 1 || r.MaxAttempts > RetryAttemptsMax {
		return apierr.Errorf(apierr.InvalidField, "retry.max_attempts", "must be between 1 and %d", RetryAttemptsMax)
	}
	if math.IsNaN(r.Multiplier) || r.Multiplier < 1 || r.Multiplier > MultiplierMax {
		return apierr.Errorf(apierr.InvalidField, "retry.multiplier", "must be between 1 and %d", MultiplierMax)
	}
	if math.IsNaN(r.Jitter) || r.Jitter < 0 || r.Jitter > 1 {
		return apierr.Errorf(apierr.InvalidField, "retry.jitter", "must be between 0 and 1: it is a share of the interval")
	}
	if err := between("initial_interval", r.InitialInterval, RetryIntervalMin, RetryIntervalMax); err != nil {
		return err
	}
	if err := between("max_interval", r.MaxInterval, r.InitialInterval, RetryIntervalMax); err != nil {
		return err
	}
	return between("max_age", r.MaxAge, 0, RetryAgeMax)
}

// validateLabels checks labels. Their keys have the characters of names, so that they can stand in the query of a
// URL.
func validateLabels(labels []Pair) error {
	if len(labels) > LabelsMax {
		return apierr.Errorf(apierr.TooLarge, "labels", "has %d entries; at most %d are allowed", len(labels), LabelsMax)
	}
	for _, l := range labels {
		field := "labels." + apierr.Clip(l.Key)
		switch {
		case l.Key == "" || len(l.Key) > LabelKeyBytesMax || apierr.IndexOutside(l.Key, "._-/") >= 0:
			return apierr.Errorf(apierr.InvalidField, field, "key must be 1 to %d of A-Z a-z 0-9 . _ - /", LabelKeyBytesMax)
		case len(l.Value) > LabelValueBytesMax:
			return apierr.Errorf(apierr.TooLarge, field, "has %d bytes; at most %d are allowed", len(l.Value), LabelValueBytesMax)
		case !isPrintable(l.Value):
			return apierr.Errorf(apierr.InvalidField, field, "must be valid UTF-8 without control characters")
		}
	}
	return nil
}

// isPrintable reports whether s is valid UTF-8 without control characters.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return utf8.ValidString(s)
}

// Validate checks what a caller says about itself.
func (a Actor) Validate() error {
	if len(a.By) > ActorBytesMax || !isPrintable(a.By) {
		return apierr.Errorf(apierr.InvalidField, "by", "must be at most %d bytes of UTF-8 without control characters", ActorBytesMax)
	}
	return nil
}
