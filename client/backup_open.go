package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
)

// openTryTime is the time after which the request for a copy is sent again: the leader may hang or have died. It is longer
// than the first try of other requests, because the leader flushes its store before it answers.
const openTryTime = tryTimeout / 2

// OpenBackup makes the leader of a shard copy its store, and returns the copy for [Backup.Piece]. It repeats the request
// until a leader answers, for up to [Options].Timeout unless ctx has a deadline; within that time the leader flushes its store.
// A caller who is no cluster admin gets [CodeForbidden] at once.
// The caller calls [Backup.Close], which frees the server's disk. It goes over NATS only.
func (c *Client) OpenBackup(ctx context.Context, shard uint32) (*Backup, error) {
	if c.via != nil {
		return nil, errNeedsNATS("a backup")
	}
	body, err := encode(BackupRequest{Version: BackupVersion})
	if err != nil {
		return nil, err
	}
	o := backupOpening{client: c, shard: shard, subject: BackupSubject(c.opts.Prefix, shard, "open"), body: body, tryTime: openTryTime}
	return o.run(ctx)
}

// backupOpening is a request for a copy, which is sent until a leader answers. A leader that is only slow may make a copy for
// each try: the first one is used, and the others are given back.
type backupOpening struct {
	client  *Client
	shard   uint32
	subject string
	body    []byte
	tryTime time.Duration

	answers chan openAnswer // of all tries
	waiting int             // tries without an answer
}

// openAnswer is what one try got.
type openAnswer struct {
	msg *nats.Msg
	err error
}

// run returns the first copy that is offered.
func (o *backupOpening) run(ctx context.Context) (*Backup, error) {
	ctx, stop := o.bounded(ctx)
	b, err := o.repeat(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	b.stop = stop
	if o.waiting > 0 {
		go o.giveBack(ctx)
	}
	return b, nil
}

// bounded returns a context with the deadline of the request as a whole.
func (o *backupOpening) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, o.client.opts.Timeout)
}

// repeat sends the request until it has an answer that is final.
func (o *backupOpening) repeat(ctx context.Context) (*Backup, error) {
	o.answers = make(chan openAnswer)
	var last error // of the tries that were answered
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, o.gaveUp(ctx, last)
		case <-next.C:
			if o.waiting > 0 && denied(o.client.nc, o.subject) != nil {
				return nil, o.gaveUp(ctx, last)
			}
			o.send(ctx)
			if !o.client.opts.NoRetry {
				next.Reset(o.tryTime)
			}
		case a := <-o.answers:
			o.waiting--
			b, err := o.read(a)
			if err == nil || o.isFinal(err) {
				return b, err
			}
			if isFirst := last == nil; isFirst && errors.Is(err, nats.ErrNoResponders) {
				if e := o.client.outsider(ctx, "a backup"); e != nil {
					return nil, e
				}
			}
			if last = err; o.waiting == 0 {
				next.Reset(min(retryPauseMax, o.tryTime))
			}
		}
	}
}

// isFinal reports whether an error of a try ends the request. A refusal does not while another try waits, because it may be
// for the copy that the leader makes for that one.
func (o *backupOpening) isFinal(err error) bool {
	isReached := fateOf(err) == answered
	return o.client.opts.NoRetry || isReached && (o.waiting == 0 || errors.Is(err, ErrForeignReply))
}

// send sends the request once. The answer goes to the channel.
func (o *backupOpening) send(ctx context.Context) {
	o.waiting++
	go func() {
		msg, err := o.client.nc.RequestWithContext(ctx, o.subject, o.body)
		select {
		case o.answers <- openAnswer{msg, err}:
		case <-ctx.Done():
		}
	}()
}

// read returns the copy that an answer offers.
func (o *backupOpening) read(a openAnswer) (*Backup, error) {
	if errors.Is(a.err, nats.ErrNoResponders) {
		return nil, &Error{Code: CodeUnavailable, Status: http.StatusServiceUnavailable, Cause: a.err, Message: "no server answers on " + o.subject +
			fmt.Sprintf(": shard %d has no leader at the moment, the prefix or the shard is wrong, the server is too old to send backups, or the caller has no right to ask (cluster admins have)", o.shard)}
	}
	if a.err != nil {
		return nil, o.client.unanswered(o.subject, len(o.body), false, a.err)
	}
	if err := checkReply(ReplyBackupOpen, o.subject, a.msg); err != nil {
		return nil, err
	}
	b := &Backup{client: o.client}
	if err := json.Unmarshal(a.msg.Data, &b.BackupOffer); err != nil {
		return nil, fmt.Errorf("client: decode the offer of a backup: %w", err)
	}
	if b.Error != "" {
		return nil, errors.New(b.Error)
	}
	return b, b.check()
}

// gaveUp returns the error of a request whose time is over. last is the last error that a try got, or nil.
func (o *backupOpening) gaveUp(ctx context.Context, last error) error {
	cause := ctx.Err()
	switch isCancelled := errors.Is(cause, context.Canceled); {
	case !isCancelled && last != nil && (o.waiting == 0 || fateOf(last) == answered):
		return last
	case !isCancelled:
		cause = fmt.Errorf("the leader of shard %d has not offered its copy; it hangs, has died, or is slow: %w", o.shard, cause)
	}
	return o.client.unanswered(o.subject, len(o.body), false, cause)
}

// giveBack closes the copies that are offered after the first one, until the context ends.
func (o *backupOpening) giveBack(ctx context.Context) {
	for ; o.waiting > 0; o.waiting-- {
		select {
		case <-ctx.Done():
			return
		case a := <-o.answers:
			if b, err := o.read(a); err == nil {
				b.Close()
			}
		}
	}
}
