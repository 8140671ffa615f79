package job

import "testing"

// TestLane: attempts share places by tenant, kind, host and number, and of kind nats by tenant alone.
func TestLane(t *testing.T) {
	http := func(url string) Target { return Target{Kind: TargetHTTP, URL: url} }
	tests := []struct {
		target Target
		want   Lane
	}{
		{http("https://Example.com/a/b?x=1"), Lane{Kind: TargetHTTP, Name: "https://example.com"}},
		{http("http://example.com:8080?x=/"), Lane{Kind: TargetHTTP, Name: "http://example.com:8080"}},
		{http("http://example.com"), Lane{Kind: TargetHTTP, Name: "http://example.com"}},
		{http("http://[::1]:80/"), Lane{Kind: TargetHTTP, Name: "http://[::1]:80"}},
		{http("https://user:secret@example.com/"), Lane{Kind: TargetHTTP, Name: "https://example.com"}},
		{http("no url"), Lane{Kind: TargetHTTP, Name: "no url"}},
		{Target{Kind: TargetRequest, Subject: "a.b", MaxInFlight: 3}, Lane{Kind: TargetRequest, Name: "a.b", Limit: 3}},
		{Target{Kind: TargetHandler, Handler: "h"}, Lane{Kind: TargetHandler, Name: "h"}},
		{Target{Kind: TargetNATS, Subject: "a.b"}, Lane{Kind: TargetNATS}},
	}
	for _, tc := range tests {
		tc.want.Tenant = "acme"
		d := Delivery{Tenant: "acme", Target: tc.target}
		if got := d.Lane(); got != tc.want {
			t.Errorf("%+v has lane %+v; want %+v", tc.target, got, tc.want)
		}
	}
}
