package dashboard

import (
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// addressOf returns the subject, the URL or the name of a target, by its kind.
func addressOf(t *client.Target) string {
	switch t.Kind {
	case "http":
		if t.URLSecret.Name != "" {
			return t.URLSecret.String()
		}
		return t.URL
	case "handler":
		return t.Name
	default:
		return t.Subject
	}
}

// targetText returns the kind and the address of a target. A URL has no user or password in it: the API refuses
// such a target.
func targetText(t *client.Target) string {
	text := t.Kind + " " + addressOf(t)
	// The method is shown also if it is the default, because it is a part of the request.
	if t.Kind == "http" {
		text = methodOf(t) + " " + addressOf(t)
	}
	return text
}

// secretText returns a reference to a secret; "" for none.
func secretText(s client.Secret) string {
	if s.Name == "" {
		return ""
	}
	return s.String()
}

// shownHeaders returns headers with references as JSON.
func shownHeaders(headers client.Headers) map[string]string {
	shown := make(map[string]string, len(headers))
	for name, value := range headers {
		if secret, ok := client.SecretOfHeader(value); ok {
			value = secret.String()
		}
		shown[name] = value
	}
	return shown
}

// retryText describes a retry policy.
func retryText(r *client.Retry) string {
	// The other members have no meaning then, so they are left out.
	if r.MaxAttempts <= 1 {
		return "1, no retry"
	}
	text := fmt.Sprintf("at most %d; the second after %s, each further pause %g times as long, up to %s", r.MaxAttempts, r.InitialInterval, r.Multiplier, r.MaxInterval)
	if r.MaxAge > 0 {
		text += fmt.Sprintf("; none later than %s", r.MaxAge)
	}
	return text
}

// overlapTexts describes the overlap policies. Each ends with the API's word, so that a reader finds it in the
// documentation.
var overlapTexts = map[string]string{
	"allow": "both run (allow)", "skip": "the new run is skipped (skip)", "buffer_one": "one run waits for its turn (buffer_one)",
	"buffer_all": "all runs wait for their turn (buffer_all)", "cancel_other": "the old run is cancelled (cancel_other)",
}

// policyText describes what happens to a tick while a run of the job is in progress.
func policyText(j *client.JobInfo) string {
	text := orElse(overlapTexts[j.OverlapPolicy], j.OverlapPolicy)
	if j.MaxConcurrent > 0 {
		text += fmt.Sprintf(", at most %d at a time", j.MaxConcurrent)
	}
	return text
}

// missedText describes what happens to missed runs.
func missedText(j *client.JobInfo) string {
	var parts []string
	switch j.MissedRunPolicy {
	case "skip":
		return "are skipped (skip)"
	case "backfill":
		parts = append(parts, "each is fired (backfill)")
		if j.MaxCatchupRuns != nil {
			parts = append(parts, fmt.Sprintf("at most %d", *j.MaxCatchupRuns))
		}
	default:
		parts = append(parts, "only the latest is fired ("+j.MissedRunPolicy+")")
	}
	if j.CatchupWindow != nil {
		parts = append(parts, "if not older than "+j.CatchupWindow.String())
	}
	return strings.Join(parts, ", ")
}

// lengthOf returns a duration as text; "" for 0, so that the fact is left out.
func lengthOf(d client.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// nonZero returns a number as text; "" for 0, so that the fact is left out.
func nonZero(n uint64) string {
	if n == 0 {
		return ""
	}
	return figure(n)
}

// countOf returns a number with its noun, which is one for 1 and many otherwise; "" for 0.
func countOf(n uint32, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
