package job

import "encoding/binary"

// EncodeDefinition returns the bytes of a definition as PutRecord stores them. It is deterministic: equal definitions
// have equal bytes.
func EncodeDefinition(d *Definition) []byte {
	b := make([]byte, 0, 160+len(d.Payload))
	b = appendText(appendText(b, d.Tenant), d.Name)
	b = appendText(appendText(b, d.Schedule), d.Timezone)
	b = appendMillis(appendMillis(b, d.StartsAt), d.EndsAt)
	b = binary.AppendUvarint(b, uint64(d.MaxRuns))
	b = appendDuration(b, d.Jitter)
	b = append(b, byte(d.Target.Kind))
	b = appendText(appendText(b, d.Target.Subject), d.Target.URL)
	b = appendText(appendText(b, d.Target.Method), d.Target.Handler)
	b = binary.AppendUvarint(b, uint64(len(d.Payload)))
	b = append(b, d.Payload...)
	b = appendBool(b, d.PayloadJSON)
	b = appendPairs(b, d.Headers)
	b = append(b, byte(d.Completion))
	b = appendDuration(b, d.AttemptTimeout)
	b = appendRetry(b, d.Retry)
	b = append(b, byte(d.Overlap), byte(d.Missed))
	b = appendDuration(b, d.CatchupWindow)
	b = binary.AppendUvarint(b, uint64(d.MaxCatchupRuns))
	b = appendBool(b, d.Paused)
	b = appendPairs(b, d.Labels)
	b = appendText(b, d.Description)
	b = appendDefinition4(appendDefinition2(b, d), d)
	if d.HasSecrets() {
		b = append(appendDefinition6(b, d), definition6Mark)
	}
	return b
}

// DefinitionBytes returns the length of a definition as EncodeDefinition encodes it. The bytes that a quota bounds are
// these.
func DefinitionBytes(d *Definition) int { return len(EncodeDefinition(d)) }

// appendDefinition4 appends the members of definitions since version 4 of the record: the number of places at the
// target. So the last byte of an encoded definition without later members is zero exactly if its target has no number
// of its own.
func appendDefinition4(b []byte, d *Definition) []byte {
	return binary.AppendUvarint(b, uint64(d.Target.MaxInFlight))
}

// cutDefinition4 returns an encoded definition without the members of version 4, and reports whether these are zero;
// only then is it cut.
func cutDefinition4(b []byte) (rest []byte, isZero bool) {
	if last := len(b) - 1; last >= 0 && b[last] == 0 {
		return b[:last], true
	}
	return b, false
}

// definition6Mark ends an encoded definition that has the members of version 6. No other definition ends with it: the
// last byte of a number is below 0x80.
const definition6Mark = 0xff

// appendDefinition6 appends the members of definitions since version 6 of the record: references to secrets.
func appendDefinition6(b []byte, d *Definition) []byte {
	b = appendText(appendText(b, string(d.Target.URLSecret)), string(d.Target.Sign))
	return appendPairs(appendText(b, string(d.Target.ClientCert)), d.SecretHeaders)
}

// definition6 reads what appendDefinition6 appended.
func (r *rowReader) definition6(d *Definition) {
	d.Target.URLSecret, d.Target.Sign, d.Target.ClientCert = SecretRef(r.text()), SecretRef(r.text()), SecretRef(r.text())
	d.SecretHeaders = r.pairs()
}

// cutDefinition6 returns an encoded definition without the mark of version 6, and reports whether it had that.
func cutDefinition6(b []byte) (rest []byte, has bool) {
	if last := len(b) - 1; last >= 0 && b[last] == definition6Mark {
		return b[:last], true
	}
	return b, false
}

// appendDefinition2 appends the members of definitions since version 2 of the record.
func appendDefinition2(b []byte, d *Definition) []byte {
	b = appendTexts(appendTexts(b, d.Schedules), d.Exclude)
	b = binary.AppendUvarint(b, uint64(d.MaxConcurrent))
	b = binary.AppendUvarint(b, uint64(d.PauseOnFailure))
	return appendBool(appendFloat(b, d.Retry.Jitter), d.Retry.ClientErrors)
}

// definition2 reads what appendDefinition2 appended.
func (r *rowReader) definition2(d *Definition) {
	d.Schedules, d.Exclude = r.texts(), r.texts()
	d.MaxConcurrent, d.PauseOnFailure = r.uint32(), r.uint32()
	d.Retry.Jitter, d.Retry.ClientErrors = r.float(), r.bool()
}

// definition reads what EncodeDefinition wrote, in the same order. Members of versions that the row does not have
// stay zero, which for each of them means what a definition without the member meant.
func (r *rowReader) definition() (d Definition) {
	d.Tenant, d.Name = r.text(), r.text()
	d.Schedule, d.Timezone = r.text(), r.text()
	d.StartsAt, d.EndsAt = r.millis(), r.millis()
	d.MaxRuns = r.uint32()
	d.Jitter = r.duration()
	d.Target.Kind = TargetKind(r.byte())
	d.Target.Subject, d.Target.URL = r.text(), r.text()
	d.Target.Method, d.Target.Handler = r.text(), r.text()
	d.Payload = append([]byte(nil), r.bytes()...)
	d.PayloadJSON = r.bool()
	d.Headers = r.pairs()
	d.Completion = Completion(r.byte())
	d.AttemptTimeout = r.duration()
	d.Retry = r.retry()
	d.Overlap, d.Missed = Overlap(r.byte()), Missed(r.byte())
	d.CatchupWindow = r.duration()
	d.MaxCatchupRuns = r.uint32()
	d.Paused = r.bool()
	d.Labels = r.pairs()
	d.Description = r.text()
	if r.has(rowVersion2) {
		r.definition2(&d)
	}
	if r.has(rowVersion4) {
		d.Target.MaxInFlight = r.uint32()
	}
	if r.has(rowVersion6) {
		r.definition6(&d)
	}
	return d
}

// appendRetry appends the members of a retry policy that version 1 had; the later ones are with the other members of
// version 2, of a definition as of a profile.
func appendRetry(b []byte, p Retry) []byte {
	b = binary.AppendUvarint(b, uint64(p.MaxAttempts))
	b = appendDuration(b, p.InitialInterval)
	b = appendFloat(b, p.Multiplier)
	return appendDuration(appendDuration(b, p.MaxInterval), p.MaxAge)
}

func (r *rowReader) retry() Retry {
	return Retry{
		MaxAttempts:     r.uint32(),
		InitialInterval: r.duration(),
		Multiplier:      r.float(),
		MaxInterval:     r.duration(),
		MaxAge:          r.duration(),
	}
}

// PutRecord adds the cold row of a job, see [AppendRecord].
func (b *Batch) PutRecord(s Stamp, definition []byte) {
	b.key = AppendJobKey(b.key[:0], KindJob, s.ID)
	b.value = AppendRecord(b.value[:0], s, definition)
	b.Put(b.key, b.value)
}

// AppendRecord appends the cold row of a job. The definition is already encoded, so that the goroutine of the request does
// that work and not the loop of the engine. The row has the oldest version that can hold its members: 2, 3 if the
// registration was traced, 4 if the target has a number of places, 6 if the definition names a secret.
func AppendRecord(b []byte, s Stamp, definition []byte) []byte {
	version := byte(rowVersion2)
	if s.Origin.IsValid() {
		version = rowVersion3
	}
	definition, hasSecrets := cutDefinition6(definition)
	isZero := false
	if hasSecrets {
		version = rowVersion6
	} else if definition, isZero = cutDefinition4(definition); !isZero {
		version = rowVersion4
	}
	v := append(b, version)
	v = binary.AppendUvarint(v, uint64(s.Version))
	v = appendMillis(appendMillis(v, s.CreatedAt), s.UpdatedAt)
	v = append(appendMillis(v, s.Anchor), definition...)
	if version >= rowVersion3 {
		v = appendTraceContext(v, s.Origin)
	}
	return v
}

// DecodeRecord decodes the cold row of a job.
func DecodeRecord(id ID, value []byte) (Record, error) {
	r := newRowReaderUpTo(rowVersion6, value)
	var rec Record
	rec.Stamp = Stamp{ID: id, Version: r.uint32(), CreatedAt: r.millis(), UpdatedAt: r.millis(), Anchor: r.millis()}
	rec.Def = r.definition()
	if r.has(rowVersion3) {
		rec.Origin = r.traceContext()
	}
	return rec, r.finish()
}

// PutName adds the row that maps the name of a job to its id.
func (b *Batch) PutName(tenant, name string, id ID) {
	b.key = AppendNameKey(b.key[:0], tenant, name)
	b.value = binary.BigEndian.AppendUint64(append(b.value[:0], rowVersion), uint64(id))
	b.Put(b.key, b.value)
}

// DeleteName deletes the row that maps the name of a job to its id.
func (b *Batch) DeleteName(tenant, name string) {
	b.key = AppendNameKey(b.key[:0], tenant, name)
	b.Delete(b.key)
}

// DecodeName decodes the value of a name row.
func DecodeName(value []byte) (ID, error) {
	if len(value) != 9 || value[0] != rowVersion {
		return 0, ErrRow
	}
	return ID(binary.BigEndian.Uint64(value[1:])), nil
}

// PutNote adds the note of a job. A job has one note at most: a put replaces the former one.
func (b *Batch) PutNote(id ID, n Note) {
	b.key = AppendJobKey(b.key[:0], KindNote, id)
	b.value = appendText(appendMillis(append(b.value[:0], rowVersion2), n.At), n.Reason)
	b.value = appendText(b.value, n.By)
	b.Put(b.key, b.value)
}

// DecodeNote decodes the note of a job.
func DecodeNote(value []byte) (Note, error) {
	r := newRowReaderUpTo(rowVersion2, value)
	n := Note{At: r.millis(), Reason: r.text()}
	if r.has(rowVersion2) {
		n.By = r.text()
	}
	return n, r.finish()
}

// DeleteJobRow deletes a row of a kind of which each job has at most one: see AppendJobKey.
func (b *Batch) DeleteJobRow(kind Kind, id ID) {
	b.key = AppendJobKey(b.key[:0], kind, id)
	b.Delete(b.key)
}
