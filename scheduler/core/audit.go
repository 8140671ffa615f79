package core

import "github.com/carillon-io/carillon/job"

// audit adds an entry to the audit log. The entry is part of the commit that makes the change. So there is no change
// without an entry and no entry without its change. LSN and number make the entry's key unique, and keep entries in
// the order of changes.
func (c *Core) audit(by job.Actor, action job.Action, e job.AuditEntry) {
	e.ID = job.AuditID{LSN: c.lsn, Seq: c.auditSeq}
	e.At, e.Actor, e.Action = c.now, by, action
	c.auditSeq++
	c.out.Batch.PutAudit(&e)
}
