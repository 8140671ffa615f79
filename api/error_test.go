package api

import (
	"encoding/json"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestStatusOfContract checks that every error code of the client has a status.
func TestStatusOfContract(t *testing.T) {
	for _, code := range []client.Code{
		client.CodeInvalidJSON, client.CodeUnknownField, client.CodeInvalidName, client.CodeInvalidSchedule, client.CodeInvalidTimezone,
		client.CodeInvalidTarget, client.CodeInvalidField, client.CodeTooLarge, client.CodeNotFound, client.CodeVersionConflict,
		client.CodeAlreadyExists, client.CodeStaleFence, client.CodeRunOver, client.CodeQuotaExceeded, client.CodeRateLimited, client.CodeNotLeader,
		client.CodeUnavailable, client.CodeInternal,
	} {
		found := false
		for known := range statusOf {
			found = found || string(known) == string(code)
		}
		if !found {
			t.Errorf("%s has no status", code)
		}
	}
	var shown map[string]any
	if err := json.Unmarshal(ErrorBody(&client.Error{Code: client.CodeInternal, Message: "bad \xff text"}), &shown); err != nil {
		t.Error(err)
	}
}
