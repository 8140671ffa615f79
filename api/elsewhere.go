package api

import (
	"errors"
	"strings"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// elsewhere returns the error of a request for a job or run that this shard does not have. If it belongs to another shard, the
// caller has asked with the number of a shard, and the wrong one; the error says so.
func (x *Executor) elsewhere(v *Verb, q *Request, err error) error {
	refusal, ok := errors.AsType[*apierr.Error](err)
	if !ok || refusal.Code != apierr.NotFound || x.opts.Shards <= 1 {
		return err
	}
	slot, ok := slotAsked(v, q, refusal.Field)
	if own := job.ShardOf(slot, int(x.opts.Shards)); ok && own != x.opts.Shard {
		return apierr.Errorf(refusal.Code, refusal.Field, "%s here: it would belong to shard %d of %d, and this is shard %d; ask any node without the number of a shard", refusal.Message, own, x.opts.Shards, x.opts.Shard)
	}
	return err
}

// slotAsked returns the slot of the job or run that a member of a request names.
func slotAsked(v *Verb, q *Request, member string) (slot job.Slot, ok bool) {
	text, ok := findText(q.Body, member)
	switch {
	case !ok:
		return 0, false
	case member == "run_id":
		id, err := job.ParseRunID(text)
		return id.Job.Slot(), err == nil
	default:
		return job.SlotOf(q.Tenant, text), (member == "name" || member == "job") && !strings.HasPrefix(v.name, "calendars.")
	}
}
