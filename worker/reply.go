package worker

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// accept answers that the run is here and will be reported.
func (w *Worker) accept(m *nats.Msg) { w.answer(m, nil) }

// refuse answers that the run was not taken. The code is that of HTTP: a 4xx is final, a 5xx is tried again if the job
// says so.
func (w *Worker) refuse(m *nats.Msg, code int, why error) {
	w.answer(m, nats.Header{
		"Nats-Service-Error-Code": {strconv.Itoa(code)},
		"Nats-Service-Error":      {strings.Map(oneLine, why.Error())},
	})
}

func oneLine(r rune) rune {
	if r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// finalCode is the code of a refusal that no further attempt could change.
const finalCode = http.StatusForbidden

// answer publishes to inboxes alone: a sender that chose another subject would have this worker publish with its rights.
func (w *Worker) answer(m *nats.Msg, header nats.Header) {
	if !isInbox(m.Reply) {
		return
	}
	if err := w.opts.Conn.PublishMsg(&nats.Msg{Subject: m.Reply, Header: header}); err != nil {
		w.opts.Logger.Warn("the answer to a run could not be sent", slog.Any("error", err))
	}
}

// isInbox reports whether a subject is an inbox, also behind a gateway.
func isInbox(subject string) bool {
	if rest, ok := strings.CutPrefix(subject, "_GR_."); ok {
		if tokens := strings.SplitN(rest, ".", 3); len(tokens) == 3 {
			subject = tokens[2]
		}
	}
	return strings.HasPrefix(subject, "_INBOX") || strings.HasPrefix(subject, "_R_.")
}
