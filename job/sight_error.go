package job

import (
	"regexp"
	"strings"
	"sync"
)

// ownErrors are the errors of runs and attempts that Carillon itself words. In a row, # stands for a number, a duration
// or a time, which those see who may only view, and * for whatever else the text has there, in whose place they see a
// mask. A text that no row matches as a whole came from a target, a worker or a handler, or may have; of it they see
// the mask alone. The first row that matches counts, so one that shows more comes before one that shows less.
//
// No row shows more of a text than numbers: a target or a worker may repeat headers or a payload in the words of any row.
//
// They are compiled when the first is needed, so that the commands of the program, which need none, start without.
var ownErrors = sync.OnceValue(func() []errorRow { return compileRows(ownErrorTexts...) })

// ownErrorTexts are the texts of ownErrors.
var ownErrorTexts = []string{
	// Of web hooks.
	"HTTP #",
	"HTTP #: a redirect to *, which is not followed",
	"HTTP # * without a Location: neither success nor a redirect; want a status of 2xx",
	"HTTP #: *",
	// Of any target.
	"no answer within #",
	"no report came until #",
	"the worker reported a failure",
	"failed without a reason",
	"stopped",
	"cancelled",
	"the job was deleted",
	"read the job: *",
	"payload of run * is missing",
	"target not allowed: *",
	"target.url: *",
	"target.subject: *",
	"* is closed to http targets, whatever the settings: *",
	"* is a loopback or private address, or one kept for a purpose: *",
	"* is an address of this server itself, which no run is sent to; want the address of another program",
	"secret *",
	"the target has an unknown kind; want nats, jetstream, request, http or handler",
	// Of NATS.
	"this server has no connection to NATS for its targets",
	"the connection to NATS was down for #",
	"the NATS server did not confirm within #",
	"the connection to NATS was lost before the server confirmed the message; it may have arrived",
	"the connection to NATS was lost before the stream acknowledged; the message may be stored",
	"the NATS server does not permit publishing to *",
	"the NATS client refused the message: *",
	"no stream takes the subject *",
	"no service listens on the subject *",
	"the reply is not an acknowledgement of a stream; does another program answer on this subject?",
	"the stream on * refused the message: *",
	"service error *",
	// Of handlers.
	"no handler * is registered here",
	"handler * panicked: *",
	// Of connections, as net, crypto/tls and net/http word them.
	"dial *: no such host",
	"dial *: server misbehaving",
	"dial *: i/o timeout",
	"dial *: connect: connection refused",
	"dial *: connect: connection timed out",
	"dial *: connect: no route to host",
	"dial *: connect: network is unreachable",
	"dial *",
	"read *: connection reset by peer",
	"read *: i/o timeout",
	"write *: broken pipe",
	"write *: connection reset by peer",
	"EOF",
	"unexpected EOF",
	"context deadline exceeded",
	"http: server closed idle connection",
	"http: server gave HTTP response to HTTPS client",
	"net/http: TLS handshake timeout",
	"net/http: HTTP/1.x transport connection broken: *",
	"tls: failed to verify certificate: x509: certificate signed by unknown authority",
	"tls: failed to verify certificate: *",
	"remote error: tls: *",
}

// errorRow is one row of ownErrors.
type errorRow struct {
	head  string // what a text begins with, so that few texts are compared with the whole row
	shape *regexp.Regexp
	shown string // what is shown of a text, as a template of shape
}

// quantity is what # stands for: a status or another small number, a duration, or a time.
const quantity = `([0-9]{1,3}|(?:[0-9]{1,6}(?:\.[0-9]{1,9})?(?:h|ms|m|s|µs|ns)){1,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z)`

// compileRows compiles the rows of ownErrors.
func compileRows(texts ...string) []errorRow {
	rows := make([]errorRow, len(texts))
	for i, text := range texts {
		shape := strings.NewReplacer(`#`, quantity, `\*`, `.*`).Replace(regexp.QuoteMeta(text))
		head := text
		if at := strings.IndexAny(text, "#*"); at >= 0 {
			head = text[:at]
		}
		rows[i] = errorRow{head, regexp.MustCompile(`(?s)^` + shape + `$`), strings.NewReplacer("#", "${1}", "*", Mask).Replace(text)}
	}
	return rows
}

// ErrorForViewers returns the error of a run or of an attempt as those see it who may only view jobs: what Carillon itself
// says, with a mask in place of all that a target, a worker or a handler may have said.
func ErrorForViewers(text string) string {
	if text == "" {
		return ""
	}
	rows := ownErrors()
	for i := range rows {
		if shown, ok := rows[i].show(text); ok {
			return shown
		}
	}
	return Mask
}

// show returns what is shown of a text, if the row matches it.
func (r *errorRow) show(text string) (string, bool) {
	if !strings.HasPrefix(text, r.head) {
		return "", false
	}
	at := r.shape.FindStringSubmatchIndex(text)
	if at == nil {
		return "", false
	}
	return string(r.shape.ExpandString(nil, r.shown, text, at)), true
}
