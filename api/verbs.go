package api

import (
	"context"
	"errors"
	"reflect"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// Verb is one operation of the API. Verbs are made by this package alone and do not change. Everything that differs
// between verbs is in it: the ways in, the schemas, the metrics and the router of package web read the table, so that
// a new verb is one entry and one function.
type Verb struct {
	About string // what it does, in a sentence
	Reply any    // the zero value of the reply's type in package client
	Bulk  bool   // takes many jobs at once, and is bounded separately from the others

	// name is that in subjects and metrics, two words with a dot or one alone; it never changes.
	name string
	// request and Reply are only reflected upon, for the schemas; what is decoded is defined by the members of the
	// verb, and a test compares both.
	request  any      // the zero value of the request's type in package client
	required []string // members that a request must have
	either   []string // members of which a request must have one
	// size decides the room of the reply, and how much of it a request may need.
	size       replySize
	reads      bool // changes nothing
	mayBeEmpty bool // an empty message means {}
	// serve gets the body unread, so a verb such as a bulk registration can read it in its own way.
	serve serveFunc
}

// NeedsOnly reports whether a request with this member alone has all members that it must have; "" means no member.
// Package web asks it whether a request may come without a body.
func (v *Verb) NeedsOnly(member string) bool {
	for _, name := range v.required {
		if name != member {
			return false
		}
	}
	return len(v.either) == 0
}

// KindOf returns the kind of a member of the request; reflect.Invalid if there is no such member.
func (v *Verb) KindOf(member string) reflect.Kind {
	if f, ok := memberOf(reflect.TypeOf(v.request), member); ok {
		return f.Type.Kind()
	}
	return reflect.Invalid
}

// unanswered returns the refusal of a request that got no answer. What a change has done then is unknown; a read changes nothing.
func (v *Verb) unanswered(what string, cause error) error {
	if !v.reads {
		what += "; whether the request took effect is unknown, so read before asking again"
	}
	return &client.Error{Code: client.CodeUnavailable, Status: statusOf[apierr.Unavailable], Message: what, Cause: cause}
}

// ofTime returns the refusal of a request whose time is over by an error, and any other error as it is.
func (v *Verb) ofTime(err error) error {
	if _, isPublic := errors.AsType[*client.Error](err); isPublic || !isOver(err) {
		return err
	}
	return v.unanswered("no answer in time", nil)
}

// serveFunc carries out a request and returns the reply to be encoded. It runs on the goroutine of the request, after
// admission, and has checked nothing of the body before. The reply must not be changed afterwards.
type serveFunc func(x *Executor, ctx context.Context, tenant string, body []byte) (any, error)

// take returns a serveFunc that reads a request with the given members and passes it to a method. What the method
// gets belongs to it alone.
func take[T any](members object[T], act func(*Executor, context.Context, string, *T) (any, error)) serveFunc {
	return func(x *Executor, ctx context.Context, tenant string, body []byte) (any, error) {
		var req T
		if err := read(body, func(r *reader) error { return members.read(r, &req) }); err != nil {
			return nil, err
		}
		x.noteAbout(ctx, &req)
		return act(x, ctx, tenant, &req)
	}
}
