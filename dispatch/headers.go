package dispatch

// The headers that every target receives besides the job's own. Their names are part of the public
// contract; NATS preserves their case.
const (
	headerRunID       = "Carillon-Run-Id"
	headerJob         = "Carillon-Job"
	headerTenant      = "Carillon-Tenant"
	headerScheduledAt = "Carillon-Scheduled-At"
	headerAttempt     = "Carillon-Attempt"
	headerFence       = "Carillon-Fence"

	headerIdempotencyKey = "Idempotency-Key" // HTTP: the run id

	contentTypeJSON  = "application/json"
	contentTypeBytes = "application/octet-stream"
)
