package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// job is one registration: fire once, at a whole millisecond. It is the same for every rival.
type job struct {
	number int
	due    time.Time
}

// farNumber is the first number of jobs that are not to fire while it counts.
const farNumber = 1_000_000_000

// farAhead is how far ahead those are due.
const farAhead = 24 * time.Hour

// farJobs returns jobs that are due in a day or more, each a millisecond after the one before.
func farJobs(from, count int) []job {
	first := time.Now().Truncate(time.Millisecond).Add(farAhead)
	jobs := make([]job, count)
	for i := range jobs {
		jobs[i] = job{farNumber + from + i, first.Add(time.Duration(from+i) * time.Millisecond)}
	}
	return jobs
}

// payloadBytes is how long a payload is, whatever its number.
const payloadBytes = 100

// args is the payload as River wants it: a type that it writes as JSON itself.
type args struct {
	Number int    `json:"n"`
	Pad    string `json:"pad"`
}

// Kind names the jobs of this type, for River.
func (args) Kind() string { return "fire" }

// args returns the payload of the job.
func (j job) args() args {
	room := payloadBytes - len(`{"n":,"pad":""}`) - len(strconv.Itoa(j.number))
	return args{j.number, strings.Repeat("x", room)}
}

// payload returns the same as JSON.
func (j job) payload() []byte {
	a := j.args()
	return fmt.Appendf(nil, `{"n":%d,"pad":"%s"}`, a.Number, a.Pad)
}

// numberOf reads the number of a job from its payload.
func numberOf(payload []byte) (int, error) {
	rest, ok := bytes.CutPrefix(payload, []byte(`{"n":`))
	digits, _, found := bytes.Cut(rest, []byte(","))
	if !ok || !found {
		return 0, fmt.Errorf("payload %q has no number", payload)
	}
	return strconv.Atoi(string(digits))
}
