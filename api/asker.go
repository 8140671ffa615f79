package api

import (
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// ByHeader is the header in which a caller names itself. The name reaches the audit log as the actor of a change,
// and a paused job as status_by; nothing is permitted or refused because of it.
const ByHeader = "Carillon-By"

// askerOf returns the actor that a request names. The name is not verified; NATS decides who may send requests at
// all. A second value is an error and not ignored, because the audit log would otherwise depend on which of them a
// library returns first.
func askerOf(h nats.Header) (job.Actor, error) {
	asker := job.Actor{From: "nats"}
	values := valuesOf(h, ByHeader)
	if len(values) > 1 {
		return asker, errHeaderTwice(ByHeader, len(values))
	}
	if len(values) == 1 {
		asker.By = values[0]
	}
	return asker, asker.Validate()
}

// actor returns who asked, for the audit log: the caller as it was recognized, and what it called itself.
func (q *Request) actor() job.Actor {
	if by := q.Who.By(); by != "" {
		return job.Actor{By: by, From: q.Asker.From, Claimed: q.Asker.By}
	}
	return q.Asker
}

// errHeaderTwice returns the error for a header that may be there once.
func errHeaderTwice(name string, times int) error {
	return apierr.Errorf(apierr.InvalidField, name, "is there %d times; want it once", times)
}

// deliveryHeaders are the headers of the message or request that delivers a run to its target. No caller sends them.
// A job cannot remove them: the senders set them, and a definition may not contain them.
var deliveryHeaders = [...]string{"Carillon-Run-Id", "Carillon-Job", "Carillon-Scheduled-At", "Carillon-Attempt", "Carillon-Fence"}

// RefuseDelivery refuses a request that is the delivery of a run. The server delivers with its own rights and from
// its own place in the network, so a job could otherwise do what its owner may not do. It holds for every way in over
// a network; package web calls it for its requests and pages.
func RefuseDelivery(h map[string][]string) error {
	for _, name := range deliveryHeaders {
		if len(valuesOf(h, name)) > 0 {
			return apierr.Errorf(apierr.Forbidden, "", "the request has the header %s, so it is the delivery of a run, and a delivery may not call the API or its pages; want a target of your own, and from a client no such header", name)
		}
	}
	return nil
}

// valuesOf returns all values of a header, whatever the case of its name; NATS keeps the case that was sent. Keys
// that differ only in case are one header. Their values come in no order, which is enough for the callers: they
// count values, or allow exactly one.
func valuesOf(h map[string][]string, name string) (values []string) {
	for key, some := range h {
		if strings.EqualFold(key, name) {
			values = append(values, some...)
		}
	}
	return values
}
