package dashboard

import (
	"encoding/json"

	"github.com/carillon-io/carillon/client"
)

// auditBody is a page of the audit log and the filter that selects its entries. The fields of the filter are as the
// form shows them again.
type auditBody struct {
	Name, Action, By, From, To string
	Entries                    []entry
	// Next and First are addresses; "" where there is no such page.
	Next, First string
	Actions     []string
}

// Filtered reports whether the list has less than all entries.
func (b *auditBody) Filtered() bool {
	return b.Name != "" || b.Action != "" || b.By != "" || b.From != "" || b.To != ""
}

// entry is one change in the audit log, as a row of the page.
type entry struct {
	client.AuditEntry
	OldText, NewText string // the definition before and after, as JSON; "" if the action does not change it
}

// It is the API's list, in the order of the select field; package job has the names. A word that is missing here
// can still be filtered by in the address.
var auditActions = []string{
	"create", "update", "delete", "pause", "resume", "trigger", "backfill", "cancel_run", "retry_run", "put_calendar", "delete_calendar", "dismiss_run",
	"hand_over", "move_shard", "drain_node", "keep_node", "remove_node",
}

// audit returns the page of the audit log. It has no live part: rows that move while they are read are hard to
// follow, and what is new is one reload away.
func (v *visit) audit() view {
	q, times, by := v.query, v.dashboard.typed(v.query.Get), v.clockOf("")
	body := &auditBody{
		Name: q.Get("name"), Action: q.Get("action"), By: q.Get("by"),
		From: times.shown("from", by), To: times.shown("to", by), Actions: auditActions,
	}
	p := view{page: "audit", title: "Audit log", active: "/audit", body: body}
	request := client.AuditRequest{Name: body.Name, Action: body.Action, By: body.By, Cursor: q.Get("cursor")}
	var err error
	// The first mistake is shown, and nothing is asked of the API.
	if request.Limit, err = v.rows(); err == nil {
		request.From, request.To, err = times.ends()
	}
	var page client.AuditPage
	if err == nil {
		page, err = v.client.ListAudit(v.req.Context(), request)
	}
	if err != nil {
		p.err = err
		return p
	}
	for i := range page.Entries {
		body.Entries = append(body.Entries, entryOf(&page.Entries[i]))
	}
	body.Next, body.First = v.onward(page.NextCursor), v.first()
	return p
}

// entryOf returns the row for an entry of the audit log.
func entryOf(e *client.AuditEntry) entry {
	return entry{AuditEntry: *e, OldText: jobText(e.Before), NewText: jobText(e.After)}
}

// jobText returns a definition as JSON; "" for nil. A definition that cannot be encoded is shown as none, because an
// entry must not make the page fail.
func jobText(j *client.Job) string {
	if j == nil {
		return ""
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return ""
	}
	return string(text)
}
