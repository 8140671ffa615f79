package job

import "encoding/binary"

// PutRun adds a live run. It replaces the row of the same run, so each state of a run overwrites the one before.
func (b *Batch) PutRun(r *Run) {
	b.key = AppendRunKey(b.key[:0], r.ID)
	b.value = appendRunValue(b.value[:0], r)
	b.Put(b.key, b.value)
}

// DeleteRun deletes a live run, which has become final.
func (b *Batch) DeleteRun(id RunID) {
	b.key = AppendRunKey(b.key[:0], id)
	b.Delete(b.key)
}

// PutHistory adds a final run. The live row is deleted in the same commit, so that no crash leaves a run in both
// places or in none.
func (b *Batch) PutHistory(r *Run) {
	b.key = AppendHistoryKey(b.key[:0], r.ID)
	b.value = appendRunValue(b.value[:0], r)
	b.Put(b.key, b.value)
}

// DeleteHistory deletes a final run, which has become live again.
func (b *Batch) DeleteHistory(id RunID) {
	b.key = AppendHistoryKey(b.key[:0], id)
	b.Delete(b.key)
}

// PutPayload adds the payload of a manual run that has its own.
func (b *Batch) PutPayload(id RunID, payload []byte, isJSON bool) {
	b.key = AppendPayloadKey(b.key[:0], id)
	b.value = append(appendBool(append(b.value[:0], rowVersion), isJSON), payload...)
	b.Put(b.key, b.value)
}

// DeletePayload deletes the payload of a manual run, which has become final. It deletes the row at the former key
// too, because the run may have been fired by a release that used it.
func (b *Batch) DeletePayload(id RunID) {
	b.key = AppendPayloadKey(b.key[:0], id)
	b.Delete(b.key)
	b.key = AppendOldPayloadKey(b.key[:0], id)
	b.Delete(b.key)
}

// DecodePayload decodes the value that PutPayload wrote. The payload points into value. A payload can be hundreds of
// kilobytes, so the caller decides whether to copy it.
func DecodePayload(value []byte) (payload []byte, isJSON bool, err error) {
	if len(value) < 2 || value[0] != rowVersion {
		return nil, false, ErrRow
	}
	return value[2:], value[1] != 0, nil
}

// runRowVersion returns the oldest version of rows that can hold a run. Most runs use no member of version 2, and are
// written as version 1.
func runRowVersion(r *Run) byte {
	switch {
	case r.Dismissal != Dismissal{}:
		return RowsVersionOfDismissals
	case r.Base != 0 || r.Deadline != 0 || r.Stale != 0:
		return rowVersion2
	}
	return rowVersion
}

// appendRunValue appends a run without its identity, which is in the key.
func appendRunValue(v []byte, r *Run) []byte {
	version := runRowVersion(r)
	v = append(v, version, byte(r.Status), byte(r.Reason))
	v = appendMillis(v, r.Until)
	v = binary.AppendUvarint(v, uint64(r.Attempt))
	v = binary.AppendUvarint(v, r.Fence)
	v = appendMillis(appendMillis(appendMillis(v, r.Due), r.LaunchedAt), r.FinishedAt)
	v = appendDuration(appendDuration(v, r.Lateness), r.Duration)
	v = appendText(appendText(v, r.Error), r.Result)
	v = appendBool(v, r.HasPayload)
	v = binary.AppendUvarint(v, uint64(len(r.Attempts)))
	for _, a := range r.Attempts {
		v = binary.AppendUvarint(v, uint64(a.Number))
		v = binary.AppendUvarint(v, a.Fence)
		v = appendDuration(appendMillis(v, a.LaunchedAt), a.Duration)
		v = appendText(v, a.Error)
	}
	if version >= rowVersion2 {
		v = binary.AppendUvarint(v, uint64(r.Base))
		v = binary.AppendUvarint(appendMillis(v, r.Deadline), uint64(r.Stale))
	}
	if version >= RowsVersionOfDismissals {
		v = appendText(appendText(appendMillis(v, r.Dismissal.At), r.Dismissal.By), r.Dismissal.Reason)
	}
	return v
}

// DecodeRun decodes a live or a final run. The result shares no memory with value.
func DecodeRun(id RunID, value []byte) (Run, error) {
	r := newRowReaderUpTo(RowsVersionOfDismissals, value)
	run := Run{
		ID: id, Status: Status(r.byte()), Reason: Reason(r.byte()), Until: r.millis(),
		Attempt: r.uint32(), Fence: r.uint(),
		Due: r.millis(), LaunchedAt: r.millis(), FinishedAt: r.millis(),
		Lateness: r.duration(), Duration: r.duration(),
		Error: r.text(), Result: r.text(), HasPayload: r.bool(),
	}
	for range r.count() {
		if r.err != nil {
			break
		}
		run.Attempts = append(run.Attempts, Attempt{
			Number: r.uint32(), Fence: r.uint(), LaunchedAt: r.millis(), Duration: r.duration(), Error: r.text(),
		})
	}
	if r.has(rowVersion2) {
		run.Base, run.Deadline, run.Stale = r.uint32(), r.millis(), r.uint32()
	}
	if r.has(RowsVersionOfDismissals) {
		run.Dismissal = Dismissal{At: r.millis(), By: r.text(), Reason: r.text()}
	}
	return run, r.finish()
}

// PutOnce adds the row that maps an idempotency key to its run. It is in the commit that fires the run, so a repeated
// request finds either both or neither.
func (b *Batch) PutOnce(day uint32, key string, id RunID) {
	b.key = AppendOnceKey(b.key[:0], day, id.Job, key)
	b.value = appendRun(append(b.value[:0], rowVersion), id)
	b.Put(b.key, b.value)
}

// DecodeOnce decodes the run of an idempotency key.
func DecodeOnce(value []byte) (RunID, error) {
	if len(value) != 1+runKeyBytes || value[0] != rowVersion {
		return RunID{}, ErrRow
	}
	return ParseRunKey(value)
}
