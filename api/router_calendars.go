package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// Each shard has a copy of each calendar, because its jobs must be planned without asking another one. The first shard
// has the truth: a calendar is put there first and deleted there last. So a change that was cut short can be seen in
// the first shard, and the same request again completes it.

// calendarPut is the verb by which a calendar is put, and a copy of it. A router asks the first shard as the caller asked, and the
// others for their parts of that request: what comes as a part is a copy. The first shard alone decides by the quota, because the
// others may still have a calendar that it has deleted.
var calendarPut = VerbNamed("calendars.put")

// putCalendar puts a calendar into all shards. The reply is that of the first one.
func (r *router) putCalendar(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	reply, err := r.ask(ctx, 0, v, q)
	if err != nil {
		return reply, err
	}
	others := r.all(1)
	if without, err := failed(others, r.askEach(ctx, others, v, q, q.Body)); err != nil {
		return Reply{}, incomplete(fmt.Sprintf("the calendar has changed, but not in %s", shardsNamed(without)), "put it again", err)
	}
	return reply, nil
}

// failed returns the shards that failed, and the first error; errs has one for each of the shards.
func failed(shards []uint32, errs []error) (list []uint32, first error) {
	for i, err := range errs {
		if err != nil {
			list = append(list, shards[i])
			first = cmp.Or(first, err)
		}
	}
	return list, first
}

// shardsNamed names shards in a message.
func shardsNamed(list []uint32) string {
	if len(list) == 1 {
		return fmt.Sprintf("shard %d", list[0])
	}
	return "shards " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ", "), "[]")
}

// askEach asks shards for the same, and returns the error of each.
func (r *router) askEach(ctx context.Context, shards []uint32, v *Verb, q *Request, body []byte) []error {
	errs := make([]error, len(shards))
	_ = inParallel(ctx, q, shards, func(shard uint32, part *Request) { // a change goes on for sure
		_, err := r.askPart(ctx, shard, v, part, body)
		errs[slices.Index(shards, shard)] = err
	})
	return errs
}

// incomplete returns the error of a change that not all shards have. That the cause changed nothing in its shard is left out,
// because others have the change.
func incomplete(what, advice string, cause error) error {
	e := PublicError(cause)
	message := strings.TrimSuffix(e.Message, unchanged)
	code := apierr.Code(e.Code)
	if isAway(cause) {
		code = apierr.Unavailable
	}
	return apierr.Errorf(code, e.Field, "%s: %s; %s", what, message, advice)
}

// deleteCalendar deletes a calendar in all shards, in the first one last. If a shard refuses it, because a job there
// refers to the calendar, or is away, those that have deleted it get it back.
func (r *router) deleteCalendar(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	req, err := requestOf(q, nameMembers)
	if err == nil {
		err = job.ValidateName(req.Name)
	}
	if err != nil {
		return Reply{}, err
	}
	back, err := r.calendarToPut(ctx, q, req.Name)
	if err != nil {
		return Reply{}, err
	}
	others := r.all(1)
	errs := r.askEach(ctx, others, v, q, q.Body)
	var without []uint32 // they have deleted it, or may have
	for i, shard := range others {
		if errs[i] != nil && PublicError(errs[i]).Code == client.CodeNotFound {
			errs[i] = nil // an earlier request has deleted it there
		}
		if errs[i] == nil || mayHaveChanged(errs[i]) {
			without = append(without, shard)
		}
		err = cmp.Or(err, errs[i])
	}
	if err == nil {
		var reply Reply
		if reply, err = r.ask(ctx, 0, v, q); err == nil {
			return reply, nil
		}
	}
	return Reply{}, r.giveBack(ctx, q, without, back, err)
}

// mayHaveChanged reports whether a request may have taken effect although it failed.
func mayHaveChanged(err error) bool {
	code := PublicError(err).Code
	return !errors.Is(err, errNoLeader) && (code == client.CodeUnavailable || code == client.CodeInternal)
}

// giveBackWait bounds how long shards are asked to take a calendar back. It does not end with the request, which may
// have failed because its time is over.
const giveBackWait = 5 * time.Second

// giveBack puts a calendar into the shards that have deleted it, and returns the error of the deletion; or another one
// if a shard does not take the calendar.
func (r *router) giveBack(ctx context.Context, q *Request, shards []uint32, back []byte, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWait)
	defer cancel()
	if without, cause := failed(shards, r.askEach(ctx, shards, calendarPut, q, back)); cause != nil {
		return incomplete(shardsNamed(without)+" may be without the calendar, and others have it", "put it again, or delete it again", cause)
	}
	return err
}

// calendarToPut returns the request that puts the calendar as the first shard has it. A request for no calendar is
// refused as the first shard refuses it.
func (r *router) calendarToPut(ctx context.Context, q *Request, name string) ([]byte, error) {
	body, err := json.Marshal(client.NameRequest{Name: name})
	if err != nil {
		return nil, err
	}
	got, err := r.askPart(ctx, 0, VerbNamed("calendars.get"), q, body)
	if err != nil {
		return nil, err
	}
	var reply client.CalendarReply
	if err := decode(got.Text, &reply); err != nil {
		return nil, fmt.Errorf("read the calendar of the first shard: %w", err)
	}
	c := &reply.Calendar
	return json.Marshal(client.CalendarRequest{Name: c.Name, Exclude: c.Exclude, Description: c.Description}, encoding)
}
