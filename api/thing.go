package api

import "github.com/carillon-io/carillon/client"

// Thing returns what a reply says about the one job or calendar that it shows: its version, and, if the request created
// it, its collection (jobs or calendars) and its name. The version is 0 if the reply shows none, or one without a
// version. Package web makes the headers ETag and Location of it, without knowing the types of replies.
func (r Reply) Thing() (version uint32, collection, created string) {
	switch shown := r.value.(type) {
	case *jobText:
		if shown.created {
			return shown.version, "jobs", shown.name
		}
		return shown.version, "", ""
	case *client.CalendarReply:
		return shown.Calendar.Version, "", ""
	case *client.CalendarPutReply:
		if shown.Created {
			return shown.Calendar.Version, "calendars", shown.Calendar.Name
		}
		return shown.Calendar.Version, "", ""
	}
	return 0, "", ""
}
