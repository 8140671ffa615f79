package core

import "github.com/carillon-io/carillon/job"

// Operation adds an entry to the audit log about what an operator asks of the cluster, and changes nothing else.
type Operation struct {
	Handled
	Action       job.Action
	Tenant, Name string // Name is that of a node
	Detail       string
	Actor        job.Actor
}

// Bytes implements [Proposal].
func (p *Operation) Bytes() int { return proposalBytes + len(p.Name) + len(p.Detail) }

// operation carries an [Operation] out.
func (c *Core) operation(p *Operation) {
	c.audit(p.Actor, p.Action, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Detail: p.Detail})
}
