package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

const (
	// reportFor is how long a report is tried while the server does not take it.
	reportFor = time.Hour
	// reportLast is how long a worker that ends its commands still tries to report them.
	reportLast = 15 * time.Second

	reportPauseMin = 100 * time.Millisecond
	reportPauseMax = 15 * time.Second
)

// report reports a result until the server has answered, and forgets the turn. A delivery with a newer fence that comes
// meanwhile is reported with that.
func (t *turn) report(r *result) {
	ctx, cancel := context.WithTimeout(t.w.lifetime, reportFor)
	defer cancel()
	pause := reportPauseMin
	for {
		fence := t.fenceNow()
		err := error(nil)
		if r.lost == nil {
			_, err = t.w.opts.Client.Report(ctx, t.reportOf(r, fence))
		}
		if err == nil || isAnswer(err) || ctx.Err() != nil {
			if t.w.forgetAt(t, fence) {
				t.logReport(err)
				return
			}
			continue // a newer fence has come, and its delivery was answered
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, reportPauseMax)
	}
}

func (t *turn) logReport(err error) {
	if err != nil {
		t.log.Error("the outcome of a run was not taken by the server; it stands in this log alone", slog.Any("error", err))
	}
}

// reportOf returns the report of a result: how the command ended, and the end of its output.
func (t *turn) reportOf(r *result, fence uint64) client.ReportRequest {
	report := client.ReportRequest{RunID: t.delivery.runID, Fence: fence, Status: client.OutcomeSucceeded}
	if r.failure == "" {
		report.Result = r.output.text(job.ResultBytesMax)
		return report
	}
	report.Status = client.OutcomeFailed
	report.Error = job.CutText(r.failure, job.ErrorBytesMax)
	const between = ": "
	if room := job.ErrorBytesMax - len(report.Error) - len(between); room > 0 {
		if output := r.output.text(room); output != "" {
			report.Error += between + output
		}
	}
	return report
}

// isAnswer reports whether the server has answered so that a repetition would get the same answer.
func isAnswer(err error) bool {
	return isLost(err) || errors.Is(err, client.CodeInvalidField) || errors.Is(err, client.CodeTooLarge) || errors.Is(err, client.CodeUnknownField)
}
