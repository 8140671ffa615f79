package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/client"
)

// mix generates the jobs of a bulk load, like those of a service with many customers. The n-th job is always the same
// for the same seed and start time. It is stateless, so that a sample can be generated again to be compared with what
// the server returns.
type mix struct {
	// seed and begin must be kept to generate the same jobs again.
	seed  uint64
	begin time.Time
}

// zones are the timezones of the customers. They are spread over the day and have different rules for clock
// changes; some have none.
var zones = []string{
	"America/New_York", "America/Los_Angeles", "America/Sao_Paulo", "Europe/London", "Europe/Berlin",
	"Europe/Istanbul", "Africa/Lagos", "Asia/Kolkata", "Asia/Tokyo", "Asia/Shanghai", "Australia/Sydney", "UTC",
}

// intervals are the intervals of the jobs with @every. None is short enough for many of them to tick
// during the load.
var intervals = []string{"6h", "8h", "12h", "24h", "7d"}

// job returns the n-th job. Of ten jobs, six are one-shots within a year, two have an @every, and two a
// cron expression in a zone.
func (m *mix) job(n int) client.Job {
	rng := rand.New(rand.NewPCG(m.seed, uint64(n)))
	j := client.Job{
		Name: bulkName(n), Target: client.Target{Kind: "nats", Subject: quietSubject},
		Labels:  map[string]string{"customer": strconv.Itoa(rng.IntN(10_000))},
		Payload: bulkPayload(rng),
	}
	switch kind := rng.IntN(10); {
	case kind < 6:
		due := m.begin.Add(farAhead + time.Duration(rng.Int64N(int64(365*24*time.Hour))))
		j.Schedule = "@at " + client.At(due).String()
	case kind < 8:
		j.Schedule = "@every " + intervals[rng.IntN(len(intervals))]
	default:
		j.Schedule = randomCron(rng)
		j.Timezone = zones[rng.IntN(len(zones))]
	}
	return j
}

// bulkName returns the name of the n-th job: bulk/ and nine digits. All names have the same length, so that their size
// does not depend on the number of jobs.
func bulkName(n int) string {
	return "bulk/" + strconv.Itoa(1_000_000_000 + n)[1:]
}

// bulkPayload returns about 100 bytes, a third of which is random, as in real payloads, because disk
// usage depends on what does not compress. It does not use package fmt, which is slow: the harness
// shares the cores with the server.
func bulkPayload(rng *rand.Rand) []byte {
	b := append(make([]byte, 0, 128), `{"order":"`...)
	b = strconv.AppendUint(b, rng.Uint64()|1<<63, 16)
	b = strconv.AppendUint(b, rng.Uint64()|1<<63, 16)
	b = strconv.AppendInt(append(b, `","template":"reminder-`...), rng.Int64N(40), 10)
	b = strconv.AppendInt(append(b, `","channel":"email","retries":`...), rng.Int64N(5), 10)
	return append(b, '}')
}

// randomCron returns a daily, weekly or monthly schedule at a random minute. Days of the month end at 28, so that
// each month has a tick.
func randomCron(rng *rand.Rand) string {
	minute, hour := rng.IntN(60), rng.IntN(24)
	switch rng.IntN(4) {
	case 0:
		return fmt.Sprintf("%d %d * * 1-5", minute, hour)
	case 1:
		return fmt.Sprintf("%d %d * * %d", minute, hour, rng.IntN(7))
	case 2:
		return fmt.Sprintf("%d %d %d * *", minute, hour, 1+rng.IntN(28))
	default:
		return fmt.Sprintf("%d %d * * *", minute, hour)
	}
}
