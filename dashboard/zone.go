package dashboard

import (
	"net/http"
	"net/url"
	"time"
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

// here returns the address of the page of the visit, without the notice of an action.
func (v *visit) here() string {
	q := make(url.Values, len(v.query))
	for name, values := range v.query {
		if name != "notice" && name != "n" {
			q[name] = values
		}
	}
	return wayBack((&url.URL{Path: v.path, RawQuery: q.Encode()}).String())
}
