package job

import (
	"math"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Rules are the checks of a definition that depend on how the server is set up.
type Rules struct {
	Prefix              string // the service's own subjects are no targets; "" checks none
	PayloadBytesMax     int    // 0 is PayloadBytesDefault
	AllowPrivateTargets bool   // http targets may name loopback and private addresses
	AllowHandlers       bool   // handler targets exist only in a program that embeds the engine
}

// Validate checks every field of the definition but its schedule, which [ParseSchedule] checks. The
// error is an [*Error] that names the field and says what would be right.
func (d *Definition) Validate(rules Rules) error {
	checks := []func() error{
		func() error { return ValidateTenant(d.Tenant) },
		func() error { return ValidateName(d.Name) },
		func() error { return d.Target.validate(rules) },
		func() error { return d.validatePayload(rules) },
		func() error { return validateHeaders(d.Headers) },
		func() error { return validateLabels(d.Labels) },
		func() error { return d.Retry.validate() },
		d.validateTimes,
		d.validatePolicies,
		d.validateDescription,
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
	case d.Jitter < 0:
		return Errorf(CodeInvalidField, "jitter", "must not be negative")
	case d.Jitter != 0:
		return Errorf(CodeInvalidField, "jitter", `is not supported yet; want "0s" or no jitter at all`)
	case d.AttemptTimeout < AttemptTimeoutMin || d.AttemptTimeout > AttemptTimeoutMax:
		return Errorf(CodeInvalidField, "attempt_timeout", "must be between %s and %s", AttemptTimeoutMin, AttemptTimeoutMax)
	case d.CatchupWindow < 0 || d.CatchupWindow > CatchupWindowMax:
		return Errorf(CodeInvalidField, "catchup_window", "must be between 0s and 366d")
	}
	return nil
}

func (d *Definition) validatePolicies() error {
	switch {
	case d.Completion != CompletionDelivered:
		return Errorf(CodeInvalidField, "completion", `%q is not supported yet; want "delivered"`, d.Completion)
	case d.Overlap != OverlapAllow && d.Overlap != OverlapSkip:
		return Errorf(CodeInvalidField, "overlap_policy", `%q is not supported yet; want "allow" or "skip"`, d.Overlap)
	case d.MaxCatchupRuns > CatchupRunsMax:
		return Errorf(CodeInvalidField, "max_catchup_runs", "must be at most %d", CatchupRunsMax)
	case d.Missed == MissedBackfill && d.CatchupWindow == 0:
		return Errorf(CodeInvalidField, "catchup_window", `must not be 0s with missed_run_policy "backfill": no tick could ever be caught up`)
	case d.Missed == MissedBackfill && d.MaxCatchupRuns == 0:
		return Errorf(CodeInvalidField, "max_catchup_runs", `must be at least 1 with missed_run_policy "backfill"`)
	}
	return nil
}

func (d *Definition) validateDescription() error {
	if len(d.Description) > DescriptionBytesMax {
		return Errorf(CodeTooLarge, "description", "has %d bytes; at most %d are allowed", len(d.Description), DescriptionBytesMax)
	}
	if !utf8.ValidString(d.Description) {
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

func (t Target) validate(rules Rules) error {
	switch t.Kind {
	case TargetNATS, TargetRequest, TargetJetStream:
		return validateSubject(t.Subject, rules.Prefix)
	case TargetHTTP:
		return t.validateHTTP(rules)
	case TargetHandler:
		if !rules.AllowHandlers {
			return Errorf(CodeInvalidTarget, "target.kind", `"handler" is for programs that embed the engine; want nats, request, jetstream or http`)
		}
		if t.Handler == "" || len(t.Handler) > HandlerBytesMax || indexOutside(t.Handler, "._-/") >= 0 {
			return Errorf(CodeInvalidTarget, "target.name", "must be 1 to %d of A-Z a-z 0-9 . _ - /", HandlerBytesMax)
		}
		return nil
	}
	return Errorf(CodeInvalidTarget, "target.kind", "is missing; want one of %s", joinNames(targetKindNames[1:]))
}

// validateSubject refuses what NATS would refuse, what would reach nobody in particular (wildcards),
// and what would let a job speak to the servers or to Carillon itself.
func validateSubject(subject, prefix string) error {
	bad := func(format string, args ...any) error {
		return Errorf(CodeInvalidTarget, "target.subject", format, args...)
	}
	if subject == "" || len(subject) > SubjectBytesMax {
		return bad("must have 1 to %d characters, has %d", SubjectBytesMax, len(subject))
	}
	if !isPrintable(subject) || strings.ContainsAny(subject, " ") {
		return bad("must be printable text without spaces, such as reports.run")
	}
	for token := range strings.SplitSeq(subject, ".") {
		switch token {
		case "":
			return bad("has an empty token; want tokens joined by single dots, such as reports.run")
		case "*", ">":
			return bad("has the wildcard %q; a run goes to one subject", token)
		}
	}
	if subject[0] == '$' || strings.HasPrefix(subject, "_INBOX.") {
		return bad("subjects that begin with $ or _INBOX belong to NATS; want one of your own")
	}
	if prefix != "" && (subject == prefix || strings.HasPrefix(subject, prefix+".")) {
		return bad("subjects under %q belong to Carillon; want one of your own", prefix)
	}
	return nil
}

func (t Target) validateHTTP(rules Rules) error {
	bad := func(format string, args ...any) error {
		return Errorf(CodeInvalidTarget, "target.url", format, args...)
	}
	if t.URL == "" || len(t.URL) > URLBytesMax {
		return bad("must have 1 to %d characters, has %d", URLBytesMax, len(t.URL))
	}
	u, err := url.Parse(t.URL)
	if err != nil || !isPrintable(t.URL) {
		return bad("is no URL; want one such as https://example.com/hook")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("has the scheme %q; want http or https", u.Scheme)
	case u.Hostname() == "":
		return bad("names no host; want one such as https://example.com/hook")
	case u.User != nil:
		return bad("must not carry a user or password; put credentials into a header")
	case u.Fragment != "":
		return bad("must not have a fragment (#…): it is never sent")
	case !rules.AllowPrivateTargets && IsPrivateHost(u.Hostname()):
		return bad("%q is a loopback or private address, which this server refuses (--allow-private-targets)", u.Hostname())
	}
	switch t.Method {
	case "POST", "PUT", "PATCH", "DELETE", "GET":
		return nil
	}
	return Errorf(CodeInvalidTarget, "target.method", "%q is not possible; want POST, PUT, PATCH, DELETE or GET", clip(t.Method))
}

// IsPrivateHost tells whether host is written as a loopback, private or link-local address. A name
// that resolves to one is caught when it is dialled.
func IsPrivateHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && IsPrivateAddr(addr)
}

// IsPrivateAddr tells whether an address is one that http targets must not reach unless allowed:
// loopback, private, link-local, multicast, unspecified, shared (RFC 6598) or IPv6 wrapping of these.
func IsPrivateAddr(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsMulticast() ||
		addr.IsUnspecified() || sharedAddrs.Contains(addr) || thisNetwork.Contains(addr)
}

var (
	sharedAddrs = netip.MustParsePrefix("100.64.0.0/10")
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8")
)
