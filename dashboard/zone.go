package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// The choices of a zone that are no name of one.
const (
	zoneUTC = "UTC"
	zoneJob = "job" // the zone of the job that a page is about; UTC on pages about many
)

// The cookie that remembers in which zone a reader wants to see times. It needs no seal, because a value that is no zone
// counts as none. The script need not read it: it offers the zone of the browser, and a form chooses it.
const (
	zoneCookie     = "carillon-zone"
	zoneCookieLife = 365 * 24 * time.Hour
)

// clock is a zone in which a page shows times, and in which its forms expect them. The zero value is no clock.
type clock struct {
	name string
	loc  *time.Location
}

var utc = clock{zoneUTC, time.UTC}

// clockNamed returns the clock of a zone, and an error if there is none of that name.
func (d *Dashboard) clockNamed(name string) (clock, error) {
	if name == "" || name == zoneUTC {
		return utc, nil
	}
	loc, err := d.opts.Location(name)
	if err != nil || name == "Local" {
		return utc, invalid("zone", "%q is no timezone; want UTC, or a name such as Europe/Berlin", clip(name))
	}
	return clock{name, loc}, nil
}

// zoneChoice returns the choice of the reader: [zoneUTC], [zoneJob], or the name of a zone that may not exist.
func zoneChoice(req *http.Request) string {
	c, err := req.Cookie(zoneCookie)
	if err != nil {
		return zoneUTC
	}
	return orElse(c.Value, zoneUTC)
}

// clockOf returns the clock of a page about a job with a zone; "" for a page about none, or about many. A zone that this
// machine does not know is shown as UTC.
func (v *visit) clockOf(jobZone string) clock {
	name := zoneChoice(v.req)
	if name == zoneJob {
		name = jobZone
	}
	c, _ := v.dashboard.clockNamed(name)
	return c
}

// clockOfJob returns the clock of a page about a job of which nothing else is needed. It asks for the job only if the
// reader has chosen the zone of the job; one that is gone has UTC.
func (v *visit) clockOfJob(name string) clock {
	if name == "" || zoneChoice(v.req) != zoneJob {
		return v.clockOf("")
	}
	j, err := v.client.Get(v.req.Context(), name)
	if err != nil {
		return utc
	}
	return v.clockOf(zoneOf(j.Timezone, j.Schedule))
}

// zoned is the content of a page whose times have a zone of their own when the reader chooses that of the job.
type zoned interface{ ZoneName() string }

// clockFor returns the clock of a page with a content.
func (v *visit) clockFor(body any) clock {
	if b, ok := body.(zoned); ok {
		return v.clockOf(b.ZoneName())
	}
	return v.clockOf("")
}

// typedIn is the field of a form that says in which zone its times are. It is written with the times, because the reader
// may choose another zone before the form is sent, and a link leads others to the same times.
const typedIn = "times_in"

// typed reads the instants of a form. get returns the text of a field.
type typed struct {
	get func(field string) string
	in  clock // in which times without an offset are
	err error // in is not what the form says
}

// typed returns the reader of the instants of a form. Without a word about the zone, times are in UTC.
func (d *Dashboard) typed(get func(string) string) typed {
	in, err := d.clockNamed(get(typedIn))
	if err != nil {
		err = invalid(typedIn, "%q is no timezone; want UTC, or a name such as Europe/Berlin", clip(get(typedIn)))
	}
	return typed{get, in, err}
}

// timeLayouts lists the notations of an instant in forms: those that users may type, and those that browsers send.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

// instant parses an instant; an empty field gives the zero Time.
func (t typed) instant(field string) (client.Time, error) {
	text := t.get(field)
	if text == "" {
		return client.Time{}, nil
	}
	if t.err != nil {
		return client.Time{}, t.err
	}
	for _, layout := range timeLayouts {
		if at, err := time.ParseInLocation(layout, strings.ToUpper(text), t.in.loc); err == nil {
			return client.At(at), nil
		}
	}
	return client.Time{}, invalid(field, "%q is not a time; want one in %s such as 2026-12-01T08:00, or with an offset", clip(text), t.in.name)
}

// ends parses the two ends of a range, in the fields from and to. Either may be empty.
func (t typed) ends() (from, to client.Time, err error) {
	if from, err = t.instant("from"); err == nil {
		to, err = t.instant("to")
	}
	return from, to, err
}

// shown returns an instant in the notation of a browser's datetime field, by a clock. A text that is not an instant gives "",
// because browsers show nothing else. Fractions of a second are dropped, because the field of a browser has none by default.
func (t typed) shown(field string, by clock) string {
	at, err := t.instant(field)
	if err != nil || at.IsZero() {
		return ""
	}
	return at.In(by.loc).Format("2006-01-02T15:04:05")
}

// exact returns an instant as a confirmation carries it: with its offset and its fractions, since what was previewed is what
// is to be done, and a wall time may come twice. A text that is not an instant gives "".
func (t typed) exact(field string) string {
	at, err := t.instant(field)
	if err != nil || at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// chooseZone remembers the zone of the form, and leads back to the page on which it was chosen.
func (v *visit) chooseZone() (string, view) {
	zone := orElse(v.form.Get("zone"), zoneUTC)
	if zone != zoneJob {
		if _, err := v.dashboard.clockNamed(zone); err != nil {
			return "", failed(err)
		}
	}
	v.cookie = &http.Cookie{
		Name: zoneCookie, Value: zone, Path: "/", MaxAge: int(zoneCookieLife / time.Second), HttpOnly: true, Secure: v.req.TLS != nil,
		SameSite: http.SameSiteLaxMode,
	}
	return wayBack(v.form.Get("back")), view{}
}

// wayBack returns the address of a page of this dashboard, and that of the overview for any other text: a form must not lead a
// browser elsewhere.
func wayBack(text string) string {
	to, err := url.Parse(text)
	if err != nil || to.Host != "" || to.Scheme != "" || to.Opaque != "" || to.User != nil {
		return "/"
	}
	if _, isPage := pages[to.Path]; !isPage {
		return "/"
	}
	return (&url.URL{Path: to.Path, RawQuery: to.Query().Encode()}).String()
}

// here returns the address of the page of the visit, without the notice of an action; that of the overview after an action
// that has failed and whose address is no page.
func (v *visit) here() string {
	q := make(url.Values, len(v.query))
	for name, values := range v.query {
		if name != "notice" && name != "n" {
			q[name] = values
		}
	}
	return wayBack((&url.URL{Path: v.path, RawQuery: q.Encode()}).String())
}
