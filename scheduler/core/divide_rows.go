package core

import (
	"encoding/binary"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// dividedKeys says where in the keys of a kind the id of the job is. The values of these kinds have no id, so a row goes
// to its shard as it is, in the version in which it was written.
var dividedKeys = []struct {
	kind job.Kind
	at   int
}{
	{job.KindDeleted, 1}, {job.KindNote, 1}, {job.KindStreak, 1}, {job.KindDebt, 1}, {job.KindRun, 1}, {job.KindPayload, 1},
	{job.KindHistory, 5}, {job.KindRunPayload, 5}, {job.KindDead, 15},
}

// idBytes is the length of an id in a key.
const idBytes = 8

// divideRows writes the rows that are about jobs and runs, and the calendars.
func (d *divider) divideRows() error {
	for _, k := range dividedKeys {
		if err := d.scan(k.kind, func(key, value []byte) error { return d.moveKey(key, value, k.at) }); err != nil {
			return err
		}
	}
	for _, k := range []struct {
		kind job.Kind
		row  func(key, value []byte) error
	}{
		{job.KindOnce, d.moveOnce}, {job.KindOutbox, d.moveNotice}, {job.KindAudit, d.moveAudit}, {job.KindCalendar, d.copyCalendar},
		{job.KindLabel, passOver}, {job.KindTrait, passOver},
	} {
		if err := d.scan(k.kind, k.row); err != nil {
			return err
		}
	}
	return nil
}

// passOver is for rows that are made anew.
func passOver(_, _ []byte) error { return nil }

// moveKey writes a row with the id of a job at a place of its key.
func (d *divider) moveKey(key, value []byte, at int) error {
	p, moved, err := d.moved(key, at)
	if err == nil {
		err = checkRow(key, value)
	}
	if err == nil {
		p.batch.Put(moved, value)
	}
	return err
}

// moved returns the shard of the job whose id is at a place of a key, and the key with the id that it has there.
func (d *divider) moved(key []byte, at int) (*part, []byte, error) {
	if len(key) < at+idBytes {
		return nil, nil, fmt.Errorf("the key of %d bytes is too short", len(key))
	}
	id := d.ids.of(job.ID(binary.BigEndian.Uint64(key[at:])))
	moved := append([]byte(nil), key...)
	binary.BigEndian.PutUint64(moved[at:], uint64(id))
	return d.of(id.Slot()), moved, nil
}

// checkRow decodes a row whose value stays as it is, so that damage is found before the division is used.
func checkRow(key, value []byte) (err error) {
	switch kind := job.Kind(key[0]); kind {
	case job.KindNote:
		_, err = job.DecodeNote(value)
	case job.KindDeleted:
		_, err = job.DecodeDeleted(0, value)
	case job.KindStreak:
		_, err = job.DecodeStreak(value)
	case job.KindDebt:
		_, err = job.DecodeDebt(value)
	case job.KindRun, job.KindHistory:
		var id job.RunID
		if id, err = job.ParseRunKey(key); err == nil {
			_, err = job.DecodeRun(id, value)
		}
	case job.KindPayload, job.KindRunPayload:
		_, _, err = job.DecodePayload(value)
	case job.KindDead:
		_, err = job.ParseDeadKey(key)
	}
	return err
}

// moveOnce writes an idempotency key, which has the id of the job in its key and the run in its value.
func (d *divider) moveOnce(key, value []byte) error {
	run, err := job.DecodeOnce(value)
	if err != nil {
		return err
	}
	p, moved, err := d.moved(key, 5)
	if err != nil {
		return err
	}
	to := d.ids.ofRun(run)
	if d.of(to.Job.Slot()) != p {
		return fmt.Errorf("the key is of another job than the run %s", run)
	}
	p.batch.PutOnce(binary.BigEndian.Uint32(key[1:]), string(moved[5+idBytes:]), to)
	return nil
}

// moveNotice writes a notice that is still to be published. It keeps its place in the outbox: that of another shard may
// be the same, and the run that it is about makes its message id differ.
func (d *divider) moveNotice(key, value []byte) error {
	n, err := job.DecodeNotice(key, value)
	if err != nil {
		return err
	}
	if n.Name != "" {
		d.ids.name(n.Run.Job, n.Tenant, n.Name)
	}
	n.Run = d.ids.ofRun(n.Run)
	d.of(n.Run.Job.Slot()).batch.PutNotice(&n)
	return nil
}

// moveAudit writes an entry of the audit log. What is about a calendar goes to the first shard.
func (d *divider) moveAudit(key, value []byte) error {
	_, id, err := job.ParseAuditKey(key)
	if err != nil {
		return err
	}
	e, err := job.DecodeAudit(id, value)
	if err != nil {
		return err
	}
	if e.Job == 0 {
		d.parts[0].batch.Put(key, value)
		return nil
	}
	old := e.Job
	e.Job = d.ids.of(old)
	p := d.of(e.Job.Slot())
	if e.Job == old {
		p.batch.Put(key, value)
		return nil
	}
	if run, err := job.ParseRunID(e.Detail); err == nil && run.Job == old {
		run.Job = e.Job
		e.Detail = run.String()
	}
	p.batch.PutAudit(&e)
	return nil
}

// copyCalendar writes a calendar to each shard: the jobs of each are planned without asking another one.
func (d *divider) copyCalendar(key, value []byte) error {
	if _, err := job.DecodeCalendar(key, value); err != nil {
		return err
	}
	for n := range d.parts {
		d.parts[n].batch.Put(key, value)
	}
	return nil
}
