package main

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
)

// auditCmd lists who changed what.
type auditCmd struct {
	Job    string   `help:"Only changes of this job, or of the calendar of this name." placeholder:"NAME" complete:"@jobs"`
	By     string   `help:"Only changes that this caller made." placeholder:"NAME"`
	Action string   `help:"Only create, update, delete, pause, resume, trigger, backfill, cancel_run, retry_run, put_calendar, delete_calendar, dismiss_run, hand_over, move_shard, drain_node, keep_node or remove_node." placeholder:"ACTION" complete:"create,update,delete,pause,resume,trigger,backfill,cancel_run,retry_run,put_calendar,delete_calendar,dismiss_run,hand_over,move_shard,drain_node,keep_node,remove_node"`
	From   timeFlag `help:"At or after this time." placeholder:"TIME"`
	To     timeFlag `help:"Before this time." placeholder:"TIME"`
	Limit  int      `help:"Largest number to print; 0 is no limit." default:"50" placeholder:"N"`
	serverFlags
	outputFlag
}

// Help is what `carillon audit --help` says besides the flags.
func (*auditCmd) Help() string {
	return `The newest change comes first. BY is the name that the caller gave (--by of the other commands, CARILLON_BY). With -o json an update has the whole job before and after the change.

Examples:

  carillon audit --job reports/daily
  carillon audit --by alice@ci --action delete --from 2026-11-01
  carillon audit --action update --limit 0 -o json`
}

// Run implements the command.
func (c *auditCmd) Run(ctx context.Context, con *console) error {
	// The flag --by filters here, so it cannot name the caller as in other commands.
	r, err := c.connectAs(ctx, whoAsks())
	if err != nil {
		return err
	}
	defer r.close()
	entries := atMost(r.Audit(ctx, client.AuditRequest{
		Name: c.Job, By: c.By, Action: c.Action, From: c.From.Time, To: c.To.Time, Limit: pageSize(c.Limit),
	}), c.Limit)
	if c.isDocument() {
		return printList(con, c.Output, "entries", entries)
	}
	return printRows(con, entries, []string{"TIME", "BY", "FROM", "ACTION", "NAME", "WHAT"}, auditRow)
}

// auditRow returns the row of an entry in the table: of an update, with the names of the changed members.
func auditRow(e *client.AuditEntry) []string {
	what := e.Detail
	if changed := changedMembers(e.Before, e.After); len(changed) > 0 {
		what = strings.TrimSpace(what + " " + strings.Join(changed, ", "))
	}
	return []string{showTime(e.At), e.By, e.From, e.Action, e.Name, what}
}

// changedMembers returns the names of the members that an update changed, in the order of the JSON of a job. A member
// that only the older definition has comes last.
func changedMembers(before, after *client.Job) (changed []string) {
	if before == nil || after == nil {
		return nil
	}
	old := make(map[string]string)
	eachMember(before, func(name, value string) { old[name] = value })
	eachMember(after, func(name, value string) {
		if old[name] != value {
			changed = append(changed, name)
		}
		delete(old, name)
	})
	// What is left in old was in no later definition.
	eachMember(before, func(name, _ string) {
		if _, gone := old[name]; gone {
			changed = append(changed, name)
		}
	})
	return changed
}

// eachMember calls fn with each member of the JSON of a job, in order. It encodes the job as export does, so that a
// member is named as in a file.
func eachMember(j *client.Job, fn func(name, value string)) {
	text, err := json.Marshal(j, jsonOptions)
	if err != nil {
		return // the job is shown without its changes
	}
	dec := jsontext.NewDecoder(strings.NewReader(string(text)))
	_, _ = dec.ReadToken()
	for dec.PeekKind() == jsontext.KindString {
		name, _ := dec.ReadToken()
		member := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return
		}
		fn(member, string(value))
	}
}
