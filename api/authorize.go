package api

// Authorize decides whether the caller of a request may use its verb in its tenant, and counts the request against the
// rate of the tenant. A way in calls it as soon as it knows both, so that a request without rights or beyond the rate costs
// little; every request passes it again before it is carried out, and is counted once.
func (x *Executor) Authorize(v *Verb, q *Request) error {
	if err := x.opts.Access.Authorize(q.Who, q.Tenant, v.name); err != nil || q.isSpent {
		return err
	}
	q.isSpent = true
	return x.opts.Access.Spend(q.Tenant, 1)
}

// partyOf returns the tenant by which places are shared.
func (x *Executor) partyOf(tenant string) string { return x.opts.Access.PartyOf(tenant) }
