package dispatch

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
)

// The headers that a dead letter has besides those of a delivery and the job's own.
const (
	headerStatus         = "Carillon-Status"
	headerError          = "Carillon-Error"
	headerTarget         = "Carillon-Target"
	headerPayloadOmitted = "Carillon-Payload-Omitted"
)

// Announcement is what an [Announcer] publishes.
type Announcement = job.Announcement

// lastError returns the error of the run's last attempt, with credentials masked.
func lastError(n *Announcement) string {
	for i := len(n.Attempts) - 1; i >= 0 && n.Error == ""; i-- {
		if text := n.Attempts[i].Error; text != "" {
			return text
		}
	}
	return n.Error
}

// maskedError returns text with the credentials of the run's job masked. Texts that this release writes
// are masked already; texts in the data of an older release may not be.
func maskedError(n *Announcement, text string) string {
	if text == "" {
		return ""
	}
	return job.CredentialsOf(n.Headers, n.Target).MaskIn(text)
}

// deadLetter returns the message for a dead run: what its target would have received, with masks in
// place of credentials and references in place of secrets, and the reason why the run failed.
//
// The job's headers come first, so that none of them can replace a header of Carillon. Masks are necessary
// because dead letters have other readers than the target has.
func (a *Announcer) deadLetter(n *Announcement) *nats.Msg {
	run, fence := n.Run.String(), strconv.FormatUint(n.Fence, 10)
	h := make(nats.Header, len(n.Headers)+len(n.SecretHeaders)+10)
	for _, own := range job.WithSecretHeaders(job.MaskHeaders(n.Headers), n.SecretHeaders) {
		h[own.Key] = []string{own.Value}
	}
	for name, value := range map[string]string{
		nats.MsgIdHdr:     a.origin + "." + run + "." + fence, // a run that is retried by hand may die again
		headerRunID:       run,
		headerJob:         n.Name,
		headerTenant:      n.Tenant,
		headerScheduledAt: n.Run.At.String(),
		headerAttempt:     strconv.FormatUint(uint64(n.Attempt), 10),
		headerFence:       fence,
		headerStatus:      job.StatusDead.String(),
		headerError:       oneLine(maskedError(n, lastError(n))),
		headerTarget:      oneLine(n.Target.Kind.String() + " " + n.Target.Site()),
	} {
		h[name] = []string{value}
	}
	return &nats.Msg{Subject: a.deadSubject(n), Header: h, Data: n.Payload}
}

// withoutPayload turns a dead letter that is too large for the server into one without a payload, with a
// header that says so. The header has the number of bytes that are missing.
func withoutPayload(m *nats.Msg) *nats.Msg {
	m.Header[headerPayloadOmitted] = []string{strconv.Itoa(len(m.Data))}
	m.Data = nil
	return m
}

// oneLine makes a text fit for a header: it replaces characters that could end the line by spaces.
func oneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r // bytes that are not UTF-8 arrive here as the replacement character
	}, text))
}
