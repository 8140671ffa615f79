package core

import "github.com/carillon-io/carillon/job"

// audit adds an entry to the audit log. The entry is part of the commit that makes the change.
func (c *Core) audit(by job.Actor, action job.Action, e job.AuditEntry) {
	e.ID = job.AuditID{LSN: c.lsn, Seq: c.auditSeq}
	e.At, e.Actor, e.Action = c.now, by, action
	c.auditSeq++
	c.out.Batch.PutAudit(&e)
}
