package job

import "testing"

// TestReasonForViewers: of a pause by failures, those who may only view see what Carillon says of the last error, and
// nothing of what a target said. What callers write stays.
func TestReasonForViewers(t *testing.T) {
	for reason, want := range map[string]string{
		"": "", "the target is down": "the target is down",
		"3 runs in a row failed":                                        "3 runs in a row failed",
		PauseByFailures(3, "HTTP 500"):                                  "3 runs in a row failed; the last: HTTP 500",
		PauseByFailures(1, "HTTP 400: the customer Smith"):              "1 runs in a row failed; the last: HTTP 400: " + Mask,
		PauseByFailures(1, "customer Smith"):                            "1 runs in a row failed; the last: " + Mask,
		CutText(PauseByFailures(2, "HTTP 400: the customer Smith"), 50): "2 runs in a row failed; the last: HTTP 400: " + Mask,
		PauseByFailures(1, PauseByFailures(1, "HTTP 500")):              "1 runs in a row failed; the last: " + Mask,
	} {
		if got := ReasonForViewers(reason); got != want {
			t.Errorf("%q is shown as %q; want %q", reason, got, want)
		}
	}
}
