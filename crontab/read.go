package crontab

import (
	"iter"
	"maps"
	"strings"
	"unicode/utf8"
)

// Reader reads crontabs. The zero value reads users' crontabs without a timezone and accepts every schedule. A Reader
// is not changed by reading and is safe for concurrent use if Check is.
type Reader struct {
	// System says that a user column stands before the command, as in /etc/crontab and in /etc/cron.d. See HasUserColumn.
	System bool
	// Zone is the timezone of entries that no CRON_TZ applies to, as an IANA name; "" is passed on as it is.
	Zone string
	// Check decides whether a schedule can be used in a timezone. Its error becomes the Reason of a Refusal. Nil accepts all.
	Check func(schedule, zone string) error
}

// Entry is a line that runs a command.
type Entry struct {
	Line     int               // counted from 1
	Schedule string            // five fields separated by single blanks, or a macro such as @daily
	Zone     string            // timezone of the schedule: of the last CRON_TZ, or Reader.Zone
	User     string            // "" in a user's own crontab
	Command  string            // for a shell; escaped percent signs are unescaped
	Stdin    string            // standard input of the command; "" is none
	Env      map[string]string // assignments above the line; nil is none. Entries share it: do not modify it
}

// Read yields the lines of a crontab in their order: an Entry or a Refusal, never both. Blank lines, comments and
// assignments yield nothing. A refused line does not end the reading, so that one report has all that is to be
// corrected. The caller bounds the size of the text. Each run over the result reads the text anew, from a state of its
// own.
func (r Reader) Read(text string) iter.Seq2[*Entry, *Refusal] {
	return func(yield func(*Entry, *Refusal) bool) {
		s := state{Reader: r, zone: r.Zone}
		number := 0
		for line := range strings.Lines(text) {
			number++
			line = strings.TrimRight(line, "\r\n")
			entry, refusal := s.read(strings.TrimLeft(line, " \t"))
			if refusal != nil {
				refusal.Line, refusal.Text = number, line
			}
			if entry != nil {
				entry.Line = number
			}
			if (entry != nil || refusal != nil) && !yield(entry, refusal) {
				return
			}
		}
	}
}

// state is what the lines above the present one have set. In a crontab an assignment counts for the lines below it
// only, so the lines must be read in order, and an entry keeps what was in force at its line.
type state struct {
	Reader
	zone string            // timezone in force
	env  map[string]string // assignments in force; entries share it, so it is replaced and never changed
}

// read reads one line without the blanks before it. Both results are nil if the line runs nothing. An assignment is
// tried before an entry, as cron does. A line that is not UTF-8 is refused as a whole, because replacing its bytes
// would change the command.
func (s *state) read(line string) (*Entry, *Refusal) {
	if line == "" || line[0] == '#' {
		return nil, nil
	}
	if !utf8.ValidString(line) {
		return nil, refuse("is not valid UTF-8", "convert the file first")
	}
	if name, value, ok := cutAssignment(line); ok {
		return nil, s.assign(name, value)
	}
	entry, refusal := cutEntry(line, s.System)
	if refusal != nil {
		return nil, refusal
	}
	// What is in force at this line; later assignments make a new map.
	entry.Zone, entry.Env = s.zone, s.env
	if s.Check != nil {
		if err := s.Check(entry.Schedule, entry.Zone); err != nil {
			return nil, &Refusal{Reason: err}
		}
	}
	return &entry, nil
}

// assign puts an assignment into force for the lines after it. CRON_TZ goes into the zone of the entries and not into
// their environment, because it is for cron and not for the command. An empty CRON_TZ restores Reader.Zone.
// RANDOM_DELAY is refused unless it is 0; the entries below are read all the same, without a delay. TZ is a variable
// like any other: it is the timezone of the command, not of its schedule.
func (s *state) assign(name, value string) *Refusal {
	switch name {
	case "CRON_TZ":
		s.zone = value
		if value == "" {
			s.zone = s.Zone
		}
		return nil
	case "RANDOM_DELAY":
		if value == "0" {
			return nil
		}
		return refuse("RANDOM_DELAY is not supported", "the jobs below fire at the exact times they name")
	}
	env := maps.Clone(s.env)
	if env == nil {
		env = map[string]string{}
	}
	env[name] = value
	s.env = env
	return nil
}
