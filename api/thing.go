package api

import "github.com/carillon-io/carillon/client"

// thing is the one job or calendar that a reply shows. The zero value means that it shows none.
type thing struct {
	version    uint32
	collection string // of the thing, if the request created it: jobs or calendars; otherwise ""
	created    string // its name then
}

// Thing returns what a reply says about the one job or calendar that it shows: its version, and, if the request created
// it, its collection (jobs or calendars) and its name. The version is 0 if the reply shows none, or one without a
// version. Package web makes the headers ETag and Location of it, without knowing the types of replies.
func (r Reply) Thing() (version uint32, collection, created string) {
	return r.thing.version, r.thing.collection, r.thing.created
}

// thingOf returns the thing that a reply shows, before the reply is encoded.
func thingOf(reply any) thing {
	switch shown := reply.(type) {
	case *jobText:
		if shown.created {
			return thing{shown.version, "jobs", shown.name}
		}
		return thing{version: shown.version}
	case *client.CalendarReply:
		return thing{version: shown.Calendar.Version}
	case *client.CalendarPutReply:
		if shown.Created {
			return thing{shown.Calendar.Version, "calendars", shown.Calendar.Name}
		}
		return thing{version: shown.Calendar.Version}
	}
	return thing{}
}
