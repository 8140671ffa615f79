package api

import (
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
)

// byHeader is the header of a request that says who asks.
const byHeader = "Carillon-By"

// askerOf returns who asks, as the request says. The request proves nothing; NATS says who may ask at all.
func askerOf(h nats.Header) (job.Actor, error) {
	asker := job.Actor{From: "nats"}
	values := valuesOf(h, byHeader)
	if len(values) > 1 {
		return asker, errHeaderTwice(byHeader, len(values))
	}
	if len(values) == 1 {
		asker.By = values[0]
	}
	return asker, asker.Validate()
}

func errHeaderTwice(name string, times int) error {
	return job.Errorf(job.CodeInvalidField, name, "is there %d times; want it once", times)
}

// deliveryHeaders are headers that the message or the request has which brings a run to its target, and that no
// caller sends.
var deliveryHeaders = [...]string{"Carillon-Run-Id", "Carillon-Job", "Carillon-Scheduled-At", "Carillon-Attempt", "Carillon-Fence"}

// refuseDelivery refuses a request that is the delivery of a run: a job may not do what its owner may not do, and
// the server delivers from where it is, with rights of its own.
func refuseDelivery(h map[string][]string) error {
	for _, name := range deliveryHeaders {
		if len(valuesOf(h, name)) > 0 {
			return job.Errorf(job.CodeForbidden, "", "the request has the header %s, so it is the delivery of a run, and a delivery may not call the API or its pages; want a target of your own, and from a client no such header", name)
		}
	}
	return nil
}

// valuesOf returns all values of a header. NATS keeps the case of its name, which makes no difference here.
func valuesOf(h map[string][]string, name string) (values []string) {
	for key, some := range h {
		if strings.EqualFold(key, name) {
			values = append(values, some...)
		}
	}
	return values
}
