package bus

import (
	"strings"
	"testing"
)

// TestPermit: the guard reads a request as JetStream does, and believes nobody without a name.
func TestPermit(t *testing.T) {
	g := &jsGuard{rule: jsRule{prefix: "carillon"}, governs: func(user string) bool { return user == "token:all" }}
	for _, tc := range []struct{ what, user, body, refusal string }{
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["work.>"]}`, ""},
		{"STREAM.CREATE.S", "token:a", `{"name":"S"}`, ""},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","mirror":{"name":"T"}}`, ""},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["a"],"allow_atomic":true}`, "leave allow_atomic"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","subjects":["a"],"ALLOW_ATOMIC":true}`, "leave allow_atomic"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["a"],"allow_batched":true}`, "leave allow_atomic"},
		{"STREAM.RESTORE.S", "token:all", `{"config":{"name":"S","subjects":["a"],"allow_atomic":true}}`, "leave allow_atomic"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["a"],"allow_atomic":false}`, ""},
		{"STREAM.DELETE.S", "token:a", ``, ""},
		{"STREAM.MSG.DELETE.S", "token:a", `{"seq":1}`, ""},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["carillon.v1.a.>"]}`, "for Carillon"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","SUBJECTS":["carillon.v1.a.>"]}`, "for Carillon"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["a"],"subjects":["carillon.v1.a.>"]}`, "for Carillon"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":["a"]}{"subjects":["carillon.v1.a.>"]}`, "more than one"},
		{"STREAM.CREATE.S", "token:a", `[]`, "cannot be read"},
		{"STREAM.CREATE.S", "token:a", ``, "cannot be read"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":">","dest":""}}`, "want a subject"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":"a.*","dest":"carillon.{{split(1,-)}}"}}`, "for Carillon"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":"a.*","dest":"{{wildcard(1)}}.x"}}`, "want a subject"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":"a.*","dest":"$1.x"}}`, "for NATS itself"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","republish":{"src":"a.*","dest":"copies.{{wildcard(1)}}"}}`, ""},
		{"STREAM.RESTORE.S", "token:a", `{"config":{"name":"S","subjects":["work.>"]}}`, "brings its consumers"},
		{"STREAM.RESTORE.S", "token:all", `{"config":{"name":"S","subjects":["_INBOX.>"]}}`, "for replies"},
		{"STREAM.RESTORE.S", "token:all", `{"config":{"name":"S","subjects":["work.>"]}}`, ""},
		{"STREAM.DELETE.S", "", ``, "a stream or a consumer"},
		{"STREAM.CREATE.S", "", `{"name":"S"}`, "a stream or a consumer"},
		{"STREAM.UPDATE.S", "token:a", `{"name":"S","sources":[{"name":"T","consumer":{"name":"c","deliver_subject":"carillon.v1.a.>"}}]}`, "for Carillon"},
		{"STREAM.SNAPSHOT.S", "token:a", `{"deliver_subject":"carillon.dead.a"}`, "for Carillon"},
		{"STREAM.SNAPSHOT.S", "token:a", `{"deliver_subject":"_INBOX.x.1"}`, ""},
		{"CONSUMER.CREATE.S", "token:a", `{"stream_name":"S","config":{"deliver_subject":"_INBOX.x"}}`, ""},
		{"CONSUMER.CREATE.S.c", "token:a", `{"stream_name":"S","config":{"deliver_subject":"work.done"}}`, ""},
		{"CONSUMER.CREATE.S.c", "token:a", `{"stream_name":"S","config":{}}`, ""},
		{"CONSUMER.CREATE.S.c.s.x", "token:a", `{"stream_name":"S","config":{"deliver_subject":"carillon.dead.a"}}`, "for Carillon"},
		{"CONSUMER.CREATE.S.c", "token:a", `{"stream_name":"S","config":{"deliver_subject":"carillon.v1.a.jobs.delete"}}`, "for Carillon"},
		{"CONSUMER.CREATE.S.c", "token:a", `{"stream_name":"S","config":{"DELIVER_SUBJECT":"$JS.API.STREAM.DELETE.S"}}`, "for NATS itself"},
		{"CONSUMER.DURABLE.CREATE.S.c", "token:a", `{"stream_name":"S","config":{"deliver_subject":"_INBOX.carillon-runs.x"}}`, "for replies"},
		{"CONSUMER.DURABLE.CREATE.S.c", "token:a", `{"stream_name":"S","config":{"deliver_subject":"_R_.x"}}`, "for replies"},
		{"CONSUMER.CREATE.S", "token:a", `{"stream_name":"S","config":{"deliver_subject":"$JS.M.x"}}`, "for NATS itself"},
		{"CONSUMER.CREATE.S", "", `{"stream_name":"S","config":{"deliver_subject":"$JS.M.x"}}`, ""},
		{"CONSUMER.CREATE.S", "", `{"stream_name":"S","config":{"deliver_subject":"carillon.dead.a"}}`, "for Carillon"},
		{"CONSUMER.DELETE.S.c", "", ``, ""},
		{"STREAM.LIST", "", ``, "a stream or a consumer"},
		{"STREAM.CREATE.S", "token:a", `{"name":"` + strings.Repeat("x", guardBytes) + `"}`, "at most"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":[` + strings.Repeat(`"a",`, jsListMax) + `"b"]}`, "more than 256 elements"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","sources":[{"name":"T","subject_transforms":[` + strings.Repeat(`{"src":"a"},`, jsListMax) + `{}]}]}`, "more than 256 elements"},
		{"STREAM.CREATE.S", "token:a", `{"name":"S","subjects":[` + strings.Repeat(`"a",`, jsListMax-1) + `"b"],"metadata":{"x":"y"}}`, ""},
		{"CONSUMER.CREATE.S.c", "token:a", `{"config":{"filter_subjects":[` + strings.Repeat(`"a",`, jsListMax) + `"b"]}}`, "more than 256 elements"},
		{"CONSUMER.CREATE.S.c", "token:a", `{"config":{"description":"` + strings.Repeat("x", jsConsumerBytes) + `"}}`, "want at most 16384"},
		{"CONSUMER.CREATE.S.c", "token:a", `{"config":{"filter_subjects":["a"]}}]]]`, "more than one"},
	} {
		kind := requestOf(tc.what)
		if kind == unknownRequest {
			t.Fatalf("%s is no request", tc.what)
		}
		err := g.permit(kind, tc.user, []byte(tc.body))
		if (err == nil) != (tc.refusal == "") || err != nil && !strings.Contains(err.Error(), tc.refusal) {
			t.Errorf("%s %.80s by %q: %v; want %q", tc.what, tc.body, tc.user, err, tc.refusal)
		}
	}
}
