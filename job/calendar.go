package job

import (
	"encoding/binary"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/schedule"
)

// Calendar is a named list of exclusions, shared by the jobs of a tenant: a job refers to it in its exclusions as
// "@calendar NAME". The engine compiles it into the schedules of the jobs that refer to it, so a put of a calendar
// changes the ticks of all of them.
type Calendar struct {
	Tenant      string
	Name        string
	Exclude     []string // like those of a definition, but without references to calendars
	Description string
	Version     uint32 // counts the puts, from 1
	UpdatedAt   instant.Millis
}

// Validate checks tenant and name like those of a job, and the lines and the description. The error is an
// [*apierr.Error] that names the field, a line as exclude.0, and says what would be right. It compiles the lines and
// drops the result: a calendar that is stored can always be compiled again.
func (c *Calendar) Validate() error {
	if err := ValidateTenant(c.Tenant); err != nil {
		return err
	}
	if err := ValidateName(c.Name); err != nil {
		return err
	}
	if len(c.Exclude) > CalendarLinesMax {
		return apierr.Errorf(apierr.TooLarge, "exclude", "has %d lines; at most %d are allowed", len(c.Exclude), CalendarLinesMax)
	}
	if err := schedule.CheckCalendar(c.Exclude); err != nil {
		return err
	}
	return validateDescription(c.Description)
}

// AppendCalendarKey appends the key of a calendar. The calendars of one tenant are one range of keys, in the order of
// names.
func AppendCalendarKey(b []byte, tenant, name string) []byte {
	b = append(append(b, byte(KindCalendar)), tenant...)
	return append(append(b, 0), name...)
}

// ParseCalendarKey parses the key of a calendar. The results are copies.
func ParseCalendarKey(key []byte) (tenant, name string, err error) { return ParseNameKey(key) }

// PutCalendar adds a calendar, or replaces the one with the same name.
func (b *Batch) PutCalendar(c *Calendar) {
	v := binary.AppendUvarint(append(b.value[:0], rowVersion), uint64(c.Version))
	v = appendText(appendMillis(v, c.UpdatedAt), c.Description)
	b.value = appendTexts(v, c.Exclude)
	b.key = AppendCalendarKey(b.key[:0], c.Tenant, c.Name)
	b.Put(b.key, b.value)
}

// DeleteCalendar deletes a calendar.
func (b *Batch) DeleteCalendar(tenant, name string) {
	b.key = AppendCalendarKey(b.key[:0], tenant, name)
	b.Delete(b.key)
}

// DecodeCalendar decodes a calendar.
func DecodeCalendar(key, value []byte) (Calendar, error) {
	tenant, name, err := ParseCalendarKey(key)
	if err != nil {
		return Calendar{}, err
	}
	r := newRowReader(value)
	c := Calendar{
		Tenant: tenant, Name: name, Version: r.uint32(), UpdatedAt: r.millis(),
		Description: r.text(), Exclude: r.texts(),
	}
	return c, r.finish()
}
