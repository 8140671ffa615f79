package job

import "github.com/carillon-io/carillon/apierr"

// validatePlaces checks the number of attempts that the target accepts at a time.
func (t Target) validatePlaces() error {
	bad := func(format string, args ...any) error {
		return apierr.Errorf(apierr.InvalidTarget, "target.max_in_flight", format, args...)
	}
	switch {
	case t.MaxInFlight > MaxInFlightMax:
		return bad("must be 1 to %d, or left out for what the server has for a target", MaxInFlightMax)
	case t.MaxInFlight > 0 && t.Kind == TargetNATS:
		return bad(`is not for kind "nats", whose runs are over when the NATS server has the message; leave it out, or choose request or jetstream`)
	}
	return nil
}
