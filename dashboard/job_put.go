package dashboard

import (
	"encoding/json"
	"strconv"

	"github.com/carillon-io/carillon/client"
)

// create registers a job that must not exist yet. The condition is version 0: a name that exists is a conflict, so
// a form for a new job never changes another one.
func (v *visit) create() (string, view) {
	b := v.typed()
	if b.AsJSON {
		return v.putJSON(b, "registered")
	}
	var j client.Job
	err := b.applyTo(&j)
	if err == nil {
		_, _, err = v.client.PutIfVersion(v.req.Context(), j, 0)
	}
	if err != nil {
		b.JSON = exampleJSON
		return "", v.refused(b, err)
	}
	return v.link("/job", "name", j.Name, "notice", "registered"), view{}
}

// update changes a job, on condition that it has not changed since the form was loaded. It reads the job again,
// because the form has only some of its fields. The condition is the version that the form was loaded with, and not
// that of this reading, which would overwrite a change made in between.
func (v *visit) update() (string, view) {
	b := v.typed()
	if b.AsJSON {
		return v.putJSON(b, "changed")
	}
	info, text, err := v.getJob(b.Name)
	if err == nil {
		b.JSON, b.Bytes, b.TooBig = withVersion(text, info.Version), len(info.PayloadBase64), info.PayloadOmitted
		err = v.replace(b, info)
	}
	if err != nil {
		return "", v.refused(b, err)
	}
	return v.link("/job", "name", b.Name, "notice", "changed"), view{}
}

// replace puts a job with the changes of the form. Credentials in the job are masked here; the server keeps the
// stored ones for the masks.
func (v *visit) replace(b *formBody, info client.JobInfo) error {
	if info.PayloadOmitted {
		return refusal(client.CodeTooLarge, 413, "the payload of this job is too large to be read with the job, so the form cannot keep it; put the whole job over the API")
	}
	version, err := strconv.ParseUint(b.Version, 10, 32)
	if err != nil {
		return invalid("if_version", "%q is not a version; open the form again", clip(b.Version))
	}
	if err := b.applyTo(&info.Job); err != nil {
		return err
	}
	_, _, err = v.client.PutIfVersion(v.req.Context(), info.Job, uint32(version))
	return err
}

// putJSON passes the JSON of a job to the API unchanged. A member that this program does not know is thus not lost,
// and a misspelled one is refused by the server.
func (v *visit) putJSON(b *formBody, notice string) (string, view) {
	reply, err := v.dashboard.local.Ask(v.req.Context(), v.tenant, "jobs.put", v.by, []byte(b.JSON))
	var put client.PutReply
	if err == nil {
		err = json.Unmarshal(reply, &put)
	}
	if err != nil {
		return "", v.refused(b, err)
	}
	return v.link("/job", "name", put.Job.Name, "notice", notice), view{}
}

// refused returns the form with what was typed and the error. Nothing that was typed is lost, in whichever form it
// was.
func (v *visit) refused(b *formBody, err error) view {
	switch {
	case !b.AsJSON:
		b.Fields = fieldErrors(err)
	case b.Version != "":
		b = v.besideJSON(b)
	}
	// A form for a new job: the only condition is that the name is free, so the error belongs to the name.
	if client.IsConflict(err) && b.Version == "" && !b.AsJSON {
		b.Fields = map[string]string{"name": publicError(err).Message}
	}
	p := v.formView(b)
	p.err = err
	return p
}

// besideJSON returns the form for a page whose second form was sent: the first form has the present job,
// the second what was sent. If the job cannot be read, only what was sent is shown.
func (v *visit) besideJSON(sent *formBody) *formBody {
	info, text, err := v.getJob(sent.Name)
	if err != nil {
		return sent
	}
	b := formOf(&info, text)
	b.JSON, b.AsJSON = sent.JSON, true
	return b
}
