package server_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestSightComesBack: what a viewer reads of a job is refused as a definition at each door, by the name of what is masked,
// and the job stays as it is.
func TestSightComesBack(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	const stored = `{"schedule":"@yearly","target":{"kind":"http","url":"https://example.com/hooks/7"},"headers":{"X-Team":"billing"},"payload":{"n":1}}`
	if r := g.ask("operator", "PUT", "/api/v1/jobs/a", stored); r.Status != 201 {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	before := g.ask("operator", "GET", "/api/v1/jobs/a", "").Body
	var seen struct {
		Job map[string]any `json:"job"`
	}
	if err := json.Unmarshal([]byte(g.ask("viewer", "GET", "/api/v1/jobs/a", "").Body), &seen); err != nil || seen.Job["payload_omitted"] != true {
		t.Fatalf("%v, %v", seen.Job, err)
	}
	nc, err := nats.Connect(g.NATS(), nats.Token("operator"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	for _, c := range []struct{ want, drop, change, to string }{
		{"payload_omitted", "", "", ""}, // as it was seen
		{"headers.X-Team", "payload_omitted", "target", `{"kind":"http","url":"https://example.com/hooks/7"}`},
		{"target.url", "payload_omitted", "headers", `{"X-Team":"billing"}`},
	} {
		delete(seen.Job, c.drop)
		sent := map[string]any{}
		for name, value := range seen.Job {
			sent[name] = value
		}
		if c.change != "" {
			sent[c.change] = json.RawMessage(c.to)
		}
		text, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := nc.Request("carillon.v1.billing.jobs.put", text, testkit.Patience)
		if err != nil {
			t.Fatal(err)
		}
		for door, got := range map[string]string{
			"HTTP": g.ask("operator", "PUT", "/api/v1/jobs/a", string(text)).Body, "bulk": g.ask("operator", "POST", "/api/v1/jobs/bulk", `{"jobs":[`+string(text)+`]}`).Body,
			"NATS": string(asked.Data), "a page": g.ask("operator", "POST", "/job/edit?tenant=billing", url.Values{"name": {"a"}, "json": {string(text)}}.Encode()).Body,
		} {
			if !strings.Contains(got, c.want) || c.change != "" && !strings.Contains(got, "is the mask ********") || strings.Contains(got, `"accepted":1`) {
				t.Errorf("%s over %s: %.500s", c.want, door, got)
			}
		}
	}
	if after := g.ask("operator", "GET", "/api/v1/jobs/a", "").Body; after != before {
		t.Errorf("the job was\n%s\nand is\n%s", before, after)
	}
}
