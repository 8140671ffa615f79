package dashboard

import (
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// addressOf is where a target is, whatever its kind.
func addressOf(t *client.Target) string {
	switch t.Kind {
	case "http":
		return t.URL
	case "handler":
		return t.Name
	default:
		return t.Subject
	}
}

func targetText(t *client.Target) string {
	text := t.Kind + " " + addressOf(t)
	if t.Kind == "http" {
		text = methodOf(t) + " " + t.URL
	}
	return text
}

func retryText(r *client.Retry) string {
	if r.MaxAttempts <= 1 {
		return "1, no retry"
	}
	text := fmt.Sprintf("at most %d, the second after %s, then %g times as long, up to %s", r.MaxAttempts, r.InitialInterval, r.Multiplier, r.MaxInterval)
	if r.MaxAge > 0 {
		text += fmt.Sprintf("; none later than %s", r.MaxAge)
	}
	return text
}

// overlapTexts say what the policies for overlap do.
var overlapTexts = map[string]string{
	"allow": "both go on (allow)", "skip": "the new one is skipped (skip)", "buffer_one": "one waits for its turn (buffer_one)",
	"buffer_all": "all wait for their turn (buffer_all)", "cancel_other": "the old one is cancelled (cancel_other)",
}

func policyText(j *client.JobInfo) string {
	text := orElse(overlapTexts[j.OverlapPolicy], j.OverlapPolicy)
	if j.MaxConcurrent > 0 {
		text += fmt.Sprintf(", at most %d at a time", j.MaxConcurrent)
	}
	return text
}

func missedText(j *client.JobInfo) string {
	var parts []string
	switch j.MissedRunPolicy {
	case "skip":
		return "they stay missed (skip)"
	case "backfill":
		parts = append(parts, "each is made up for (backfill)")
		if j.MaxCatchupRuns != nil {
			parts = append(parts, fmt.Sprintf("at most %d", *j.MaxCatchupRuns))
		}
	default:
		parts = append(parts, "one makes up for them ("+j.MissedRunPolicy+")")
	}
	if j.CatchupWindow != nil {
		parts = append(parts, "if not older than "+j.CatchupWindow.String())
	}
	return strings.Join(parts, ", ")
}

func lengthOf(d client.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func nonZero(n uint64) string {
	if n == 0 {
		return ""
	}
	return figure(n)
}

func countOf(n uint32, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
