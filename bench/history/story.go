package history

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// line is one event in the history of a job. The story is for a person who reads a violation: everything about one
// job, with the deaths and faults in between.
type line struct {
	at   Instant
	text string
}

// history returns all events of a job, in the order of time.
func (h *History) history(name string) []line {
	lines := slices.Concat(opLines(h, name), deliveryLines(h, name), lifeLines(h), runLines(h, name))
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	return lines
}

// around returns at most most lines of a history, those around an instant; 0 means its end. The lines must be sorted
// by time.
func around(lines []line, at Instant, most int) []line {
	if at == 0 {
		at = never
	}
	middle, _ := slices.BinarySearchFunc(lines, at, func(l line, at Instant) int { return cmp.Compare(l.at, at) })
	// Near an end of the history the part is moved and not shortened.
	from := max(0, min(middle-most/2, len(lines)-most))
	return lines[from:min(len(lines), from+most)]
}

// printLines prints lines with their times.
func printLines(w io.Writer, lines []line) {
	for _, l := range lines {
		fmt.Fprintf(w, "  %s  %s\n", l.at, l.text)
	}
}

// runLines returns lines for the runs that the server lists at the end.
func runLines(h *History, name string) []line {
	if h.Final == nil {
		return nil
	}
	// A job that was deleted is absent from the final read, and has no runs there either.
	last := line{h.Final.At, "in the end: not there"}
	if j, ok := h.Final.Jobs[name]; ok {
		last.text = fmt.Sprintf("in the end: definition of request %d, version %d, %s", j.Mark, j.Version, j.Status)
	}
	lines := []line{last}
	for _, run := range h.Final.Runs[name] {
		text := fmt.Sprintf("listed: run %s due then", run.ID)
		if run.Until != 0 {
			text += " until " + run.Until.String()
		}
		lines = append(lines, line{run.Scheduled, fmt.Sprintf("%s: %s %s attempt %d %s", text, run.Status, run.Reason, run.Attempt, run.Error)})
	}
	return lines
}

// opLines returns a line for each request about a job and one for its result.
func opLines(h *History, name string) []line {
	var lines []line
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Job != name {
			continue
		}
		text := fmt.Sprintf("request %d %s", op.ID, op.Kind)
		if s := op.Spec; s != nil {
			text += fmt.Sprintf(" %s to %s, missed %s, overlap %s, paused %t", s.schedule(), s.Target, s.Missed, s.Overlap, s.Paused)
		}
		if op.Key != "" {
			text += " key " + op.Key
		}
		// A request and its result are lines of their own, so that what happened in between stands between them.
		lines = append(lines, line{op.Invoked, text})
		if op.Returned != 0 {
			text = fmt.Sprintf("request %d returned: %s %s", op.ID, op.Outcome, op.Code)
			if op.Version != 0 {
				text += fmt.Sprintf(" version %d", op.Version)
			}
			if op.Seen != nil {
				text += fmt.Sprintf(" of request %d, %s", op.Seen.Mark, op.Seen.Status)
			}
			lines = append(lines, line{op.Returned, text + " " + op.RunID})
		}
	}
	return lines
}

// deliveryLines returns a line for each delivery of a job.
func deliveryLines(h *History, name string) []line {
	var lines []line
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		if d.Job != name {
			continue
		}
		text := fmt.Sprintf("arrived by %s: run %s due %s attempt %d fence %d of request %d", d.Target, d.RunID, d.Scheduled, d.Attempt, d.Fence, d.Mark)
		if d.Refused {
			text += ", refused"
		}
		lines = append(lines, line{d.Arrived, text})
	}
	return lines
}

// lifeLines returns a line for each death, start and fault.
func lifeLines(h *History) []line {
	var lines []line
	for _, d := range h.Deaths {
		// The line stands at the sending of the signal; the process may be gone some time later.
		signal := "SIGKILL"
		if d.Clean {
			signal = "SIGTERM"
		}
		lines = append(lines, line{d.Sent, fmt.Sprintf("-- %s, gone %s", signal, d.Gone)})
	}
	for _, f := range h.Faults {
		lines = append(lines, line{f.From, fmt.Sprintf("-- %s, served again %s, healed %s", f.Kind, f.Served, f.Healed)})
	}
	for _, s := range h.Starts {
		lines = append(lines, line{s.Ready, fmt.Sprintf("-- ready, epoch %d", s.Epoch)})
	}
	return lines
}
