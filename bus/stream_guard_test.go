package bus

import (
	"strings"
	"testing"
)

// TestPermit: the guard reads a request as JetStream does, and believes nobody without a name.
func TestPermit(t *testing.T) {
	g := &streamGuard{rule: streamRule{prefix: "carillon"}}
	for _, tc := range []struct{ what, user, body, refusal string }{
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["work.>"]}`, ""},
		{"STREAM.CREATE.S", "token:a", `{"name":"S"}`, ""},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","mirror":{"name":"T"}}`, ""},
		{"STREAM.DELETE.S", "token:a", ``, ""},
		{"STREAM.MSG.DELETE.S", "token:a", `{"seq":1}`, ""},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["carillon.v1.a.>"]}`, "for Carillon"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","SUBJECTS":["carillon.v1.a.>"]}`, "for Carillon"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["a"],"subjects":["carillon.v1.a.>"]}`, "for Carillon"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["a"]}{"subjects":["carillon.v1.a.>"]}`, "more than one"},
		{"STREAM.CREATE.S", "token:a", `[]`, "no JSON of a stream"},
		{"STREAM.CREATE.S", "token:a", ``, "no JSON of a stream"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":">","dest":""}}`, "want a subject"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":"a.*","dest":"carillon.{{split(1,-)}}"}}`, "for Carillon"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":"a.*","dest":"{{wildcard(1)}}.x"}}`, "want a subject"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":"a.*","dest":"$1.x"}}`, "for NATS itself"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":"a.*","dest":"copies.{{wildcard(1)}}"}}`, ""},
		{"STREAM.RESTORE.S", "token:a", `{"config":{"name":"S","subjects":["_INBOX.>"]}}`, "for replies"},
		{"STREAM.DELETE.S", "", ``, "a stream or a consumer"},
		{"STREAM.CREATE.S", "", `{"name":"S"}`, "a stream or a consumer"},
		{"STREAM.CREATE.S", "token:a", `{"name":"` + strings.Repeat("x", guardBytes) + `"}`, "at most"},
	} {
		err := g.permit(tc.what, tc.user, []byte(tc.body))
		if (err == nil) != (tc.refusal == "") || err != nil && !strings.Contains(err.Error(), tc.refusal) {
			t.Errorf("%s %.80s by %q: %v; want %q", tc.what, tc.body, tc.user, err, tc.refusal)
		}
	}
}
