package scheduler

import (
	"encoding/binary"
	"fmt"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// modelRows reads a batch as the model wants it. Rows that only the engine itself reads are left out: what
// they lead to shows.
func readModelRows(batch []byte) (rows []modelRow, err error) {
	err = job.Changes(batch, func(c job.Change) error {
		row, err := readModelRow(c)
		if err == nil && row.kind != 0 {
			rows = append(rows, row)
		}
		return err
	})
	return rows, err
}

// readModelRow is a flat switch over the kinds of row.
func readModelRow(c job.Change) (row modelRow, err error) {
	if c.Op == job.OpDeleteRange {
		return prunedRow(c)
	}
	gone := c.Op == job.OpDelete
	switch job.Kind(c.Key[0]) {
	case job.KindMeta:
		return metaRow(c)
	case job.KindRun:
		return runRow(c, rowRun, rowRunGone)
	case job.KindHistory:
		return runRow(c, rowFinal, rowFinalGone)
	case job.KindDead:
		id, err := job.ParseDeadKey(c.Key)
		return modelRow{kind: pick(gone, rowDeadGone, rowDead), key: keyOf(id)}, err
	case job.KindDebt:
		return debtRow(c)
	case job.KindAudit:
		return auditRow(c)
	case job.KindOutbox:
		return noticeRow(c)
	case job.KindDeleted:
		id, err := job.ParseJobKey(c.Key)
		return modelRow{kind: pick(gone, rowDeletedGone, rowDeleted), key: runKey{job: uint64(id)}}, err
	}
	return row, nil
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func keyOf(id job.RunID) runKey { return runKey{job: uint64(id.Job), at: int64(id.At), seq: id.Seq} }

func idOf(k runKey) job.RunID {
	return job.RunID{Job: job.ID(k.job), At: instant.Millis(k.at), Seq: k.seq}
}

func prunedRow(c job.Change) (modelRow, error) {
	names := map[job.Kind]string{
		job.KindHistory: "history", job.KindDead: "list of dead runs", job.KindRunPayload: "payloads", job.KindAudit: "audit log", job.KindOnce: "once",
	}
	name, ok := names[job.Kind(c.Key[0])]
	if !ok || len(c.Value) != 5 || c.Value[0] != c.Key[0] {
		return modelRow{}, fmt.Errorf("rows of kind %d are dropped", c.Key[0])
	}
	return modelRow{kind: rowPruned, name: name, day: int64(binary.BigEndian.Uint32(c.Value[1:]))}, nil
}

func runRow(c job.Change, put, gone rowKind) (modelRow, error) {
	id, err := job.ParseRunKey(c.Key)
	row := modelRow{kind: gone, key: keyOf(id)}
	if err != nil || c.Op == job.OpDelete {
		return row, err
	}
	r, err := job.DecodeRun(id, c.Value)
	row.kind, row.status, row.reason, row.err = put, r.Status.String(), r.Reason.String(), r.Error
	row.until, row.due, row.deadline = int64(r.Until), int64(r.Due), int64(r.Deadline)
	row.attempt, row.base, row.fence, row.stale = r.Attempt, r.Base, r.Fence, r.Stale
	row.dismissed, row.launched = r.Dismissal.At != 0, int64(r.LaunchedAt)
	return row, err
}

func debtRow(c job.Change) (modelRow, error) {
	id, err := job.ParseJobKey(c.Key)
	row := modelRow{kind: rowDebtGone, key: runKey{job: uint64(id)}}
	if err != nil || c.Op == job.OpDelete {
		return row, err
	}
	debts, err := job.DecodeDebt(c.Value)
	row.kind = rowDebt
	for _, d := range debts {
		for at := d.From; at <= d.Last; at += max(d.Step, 1) {
			row.owed = append(row.owed, int64(at))
		}
	}
	return row, err
}

func metaRow(c job.Change) (row modelRow, err error) {
	if c.Op == job.OpDelete {
		return row, nil
	}
	n, err := job.DecodeMeta(c.Value)
	switch string(c.Key[1:]) {
	case core.MetaNextID:
		row = modelRow{kind: rowNextID, key: runKey{job: n}}
	case job.MetaSlotsFrom:
		row = modelRow{kind: rowSlotsFrom, key: runKey{job: n}}
	case core.MetaReplan:
		row = modelRow{kind: rowReplan, day: int64(n)}
	case core.MetaZone + simMovedZone:
		row = modelRow{kind: rowZone, day: pick[int64](n == simRules[1].Digest(simMovedZone), 1, 0)}
	}
	return row, err
}

func auditRow(c job.Change) (modelRow, error) {
	_, id, err := job.ParseAuditKey(c.Key)
	if err != nil {
		return modelRow{}, err
	}
	e, err := job.DecodeAudit(id, c.Value)
	row := modelRow{kind: rowAudit, key: runKey{job: uint64(e.Job)}, action: e.Action.String(), name: e.Name, detail: e.Detail, by: e.Actor.By}
	if run, bad := job.ParseRunID(e.Detail); bad == nil {
		row.key = keyOf(run)
	}
	return row, err
}

func noticeRow(c job.Change) (modelRow, error) {
	id := job.NoticeID{LSN: binary.BigEndian.Uint64(c.Key[1:]), Seq: binary.BigEndian.Uint32(c.Key[9:])}
	row := modelRow{kind: rowNoticeGone, lsn: id.LSN, seq: id.Seq}
	if c.Op == job.OpDelete {
		return row, nil
	}
	n, err := job.DecodeNotice(c.Key, c.Value)
	row.kind, row.key, row.dead, row.event = rowNotice, keyOf(n.Run), n.Dead, n.Event
	row.status, row.reason, row.until, row.err = n.Status.String(), n.Reason.String(), int64(n.Until), n.Error
	row.attempt, row.fence = n.Attempt, n.Fence
	return row, err
}
