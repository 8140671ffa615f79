package server

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// memberOptions are those of the first of three nodes with embedded servers.
func memberOptions() Options {
	return Options{ClusterName: "prod", Node: "a", Routes: []string{"127.0.0.1:6222", "127.0.0.1:6223", "127.0.0.1:6224"}}
}

// outsideOptions are those of a node on a NATS cluster of its own.
func outsideOptions() Options {
	return Options{ClusterName: "prod", NATSURL: "nats://n1:4222,nats://n2:4222,tls://n3:4222"}
}

func TestClusterOptions(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("127.0.0.1:6223,", 17), ",")
	for _, tt := range []struct {
		name   string
		base   Options
		change func(*Options)
		want   string // the error; empty: accepted
	}{
		{"a node alone", Options{}, func(*Options) {}, ""},
		{"a member", memberOptions(), func(*Options) {}, ""},
		{"a witness", memberOptions(), func(o *Options) { o.Witness = true }, ""},
		{"a member with one route", memberOptions(), func(o *Options) { o.Routes = []string{"nats-route://b.example.com:6222"} }, ""},
		{"a member on all interfaces", memberOptions(), func(o *Options) { o.ClusterListen, o.ClusterPassword = "0.0.0.0:6222", "tower" }, ""},
		{"a member on IPv6", memberOptions(), func(o *Options) { o.ClusterListen, o.Routes = "[::1]:6222", []string{"[::1]:6222", "[::1]:6223"} }, ""},
		{"outside servers", outsideOptions(), func(*Options) {}, ""},
		{"outside servers without a scheme", outsideOptions(), func(o *Options) { o.NATSURL = "n1:4222, n2" }, ""},
		{"local durability", outsideOptions(), func(o *Options) { o.Durability = "local" }, ""},
		{"five replicas", outsideOptions(), func(o *Options) { o.Replicas = 5 }, ""},

		{"a witness alone", Options{Witness: true}, func(*Options) {}, "a witness needs a cluster name"},
		{"a node name alone", Options{Node: "a"}, func(*Options) {}, "a node name needs a cluster name"},
		{"peers alone", Options{ClusterListen: "127.0.0.1:6222"}, func(*Options) {}, "listen on for peers needs a cluster name"},
		{"routes alone", Options{Routes: []string{"b:6222"}}, func(*Options) {}, "routes to peers needs a cluster name"},
		{"a password alone", Options{ClusterPassword: "x"}, func(*Options) {}, "password of the cluster needs a cluster name"},
		{"a durability alone", Options{Durability: "local"}, func(*Options) {}, "a durability needs a cluster name"},
		{"replicas alone", Options{Replicas: 3}, func(*Options) {}, "replicas needs a cluster name"},
		{"a log's size alone", Options{StreamBytesMax: 1 << 30}, func(*Options) {}, "size of the cluster's log needs a cluster name"},

		{"a bad cluster name", memberOptions(), func(o *Options) { o.ClusterName = "a.b" }, `cluster name "a.b"`},
		{"a bad node name", memberOptions(), func(o *Options) { o.Node = "a b" }, `node name "a b"`},
		{"an unknown durability", memberOptions(), func(o *Options) { o.Durability = "both" }, `"both" is unknown; want replicated or local`},
		{"even replicas", memberOptions(), func(o *Options) { o.Replicas = 2 }, "2 replicas; want 1, 3 or 5"},
		{"seven replicas", memberOptions(), func(o *Options) { o.Replicas = 7 }, "7 replicas"},
		{"negative replicas", memberOptions(), func(o *Options) { o.Replicas = -1 }, "-1 replicas"},
		{"a small log", memberOptions(), func(o *Options) { o.StreamBytesMax = 64<<20 - 1 }, "of 67108863 bytes is too small"},

		{"no routes", memberOptions(), func(o *Options) { o.Routes = nil }, "no route leads to another node"},
		{"only itself", memberOptions(), func(o *Options) { o.Routes = []string{"nats-route://127.0.0.1:6222"} }, "no route leads to another node"},
		{"a route without a port", memberOptions(), func(o *Options) { o.Routes = []string{"b"} }, `the route "b" is no address`},
		{"a route to port 0", memberOptions(), func(o *Options) { o.Routes = []string{"b:0"} }, `the route "b:0" is no address`},
		{"a route to nobody", memberOptions(), func(o *Options) { o.Routes = []string{":6222"} }, `the route ":6222" is no address`},
		{"a route of HTTP", memberOptions(), func(o *Options) { o.Routes = []string{"http://b:6222"} }, `the route "http://b:6222" is no address`},
		{"a route with a password", memberOptions(), func(o *Options) { o.Routes = []string{"nats-route://u:secret@b:6222"} }, "the route to b:6222 has a user in it"},
		{"too many routes", memberOptions(), func(o *Options) { o.Routes = strings.Split(many, ",") }, "17 routes are too many"},
		{"peers nowhere", memberOptions(), func(o *Options) { o.ClusterListen = "6222" }, `peers cannot come to "6222"`},
		{"peers at any port", memberOptions(), func(o *Options) { o.ClusterListen = "127.0.0.1:0" }, "a port that the others can know"},
		{"peers at a port too high", memberOptions(), func(o *Options) { o.ClusterListen = "127.0.0.1:70000" }, "peers cannot come"},

		{"an outside witness", outsideOptions(), func(o *Options) { o.Witness = true }, "a witness is an embedded NATS server, and --nats"},
		{"outside peers", outsideOptions(), func(o *Options) { o.ClusterListen = "127.0.0.1:6222" }, "listen on for peers is of the embedded server, and --nats"},
		{"outside routes", outsideOptions(), func(o *Options) { o.Routes = []string{"b:6222"} }, "routes are of the embedded server, and --nats"},
		{"an outside password", outsideOptions(), func(o *Options) { o.ClusterPassword = "x" }, "password of the cluster is of the embedded server, and --nats"},

		{"a hole in the list of servers", Options{NATSURL: "nats://n1:4222,,nats://n2:4222"}, func(*Options) {}, `address 2 has no host`},
		{"a server of HTTP", Options{NATSURL: "http://n1"}, func(*Options) {}, `address 1 has the scheme "http"`},
		{"a secret in a bad URL", Options{NATSURL: "nat://u:secret@n1"}, func(*Options) {}, `address 1 has the scheme "nat"`},
		{"too many servers", Options{NATSURL: many}, func(*Options) {}, "17 NATS servers are too many"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := tt.base
			tt.change(&o)
			err := o.withDefaults().validate()
			if tt.want == "" && err != nil {
				t.Error(err)
			} else if tt.want != "" {
				testkit.Refuses(t, err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("%v contains a secret", err)
			}
		})
	}
}

// TestClusterDefaults: settings left out get the values that a cluster needs, and those of a node alone are
// unchanged.
func TestClusterDefaults(t *testing.T) {
	alone := Options{}.withDefaults()
	if alone.Lead != 0 || alone.Durability != "" || alone.ClusterListen != "" || alone.StreamBytesMax != 0 {
		t.Errorf("alone: %+v", alone)
	}
	member := memberOptions().withDefaults()
	if member.Lead != 10*time.Second || member.Durability != DurabilityReplicated || member.ClusterListen != "127.0.0.1:6222" || member.StreamBytesMax != 1<<30 {
		t.Errorf("a member: %+v", member)
	}
	if outside := outsideOptions().withDefaults(); outside.ClusterListen != "" || outside.Lead != 10*time.Second {
		t.Errorf("on outside servers: %+v", outside)
	}
	soon := memberOptions()
	soon.Lead = time.Second
	if got := soon.withDefaults().Lead; got != time.Second {
		t.Errorf("a lead of 1s became %s", got)
	}
}
