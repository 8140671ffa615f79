package job

// PutDeleted keeps the cold row of a job beyond its deletion, because changes of its runs are still to be published. The
// record is the row as the store has it, so that a caller that deletes the job need not encode it again.
func (b *Batch) PutDeleted(id ID, record []byte) {
	b.key = AppendJobKey(b.key[:0], KindDeleted, id)
	b.value = append(append(b.value[:0], RowsVersionOfDeleted), record...)
	b.Put(b.key, b.value)
}

// DecodeDeleted decodes the cold row of a deleted job.
func DecodeDeleted(id ID, value []byte) (Record, error) {
	r := newRowReaderUpTo(RowsVersionOfDeleted, value)
	if r.err == nil && r.version < RowsVersionOfDeleted {
		r.fail("a version that this kind of row never had")
	}
	if r.err != nil {
		return Record{}, r.err
	}
	return DecodeRecord(id, r.b)
}
