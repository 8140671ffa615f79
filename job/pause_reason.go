package job

import (
	"fmt"
	"strings"
)

// lastError stands in the reason of a pause by failures between how many there were and the error of the last one.
const lastError = " runs in a row failed; the last: "

// PauseByFailures returns the reason of the pause of a job after a number of dead runs in a row, of which the last has an
// error.
func PauseByFailures(runs uint32, err string) string { return fmt.Sprint(runs, lastError, err) }

// ReasonForViewers returns the reason of a job's state, or the detail of an entry of the audit log, as those see it who may
// only view jobs. The reason of a pause by failures has the error of a run in it, which [ErrorForViewers] masks; other
// reasons are words of Carillon, or of a caller who may change jobs.
func ReasonForViewers(text string) string {
	runs, err, ok := strings.Cut(text, lastError)
	if !ok {
		return text
	}
	return runs + lastError + ErrorForViewers(err)
}
