package deploy

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// object is a manifest, as far as it is checked.
type object struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Data map[string]string `yaml:"data"`
	Spec struct {
		Replicas       int            `yaml:"replicas"`
		ServiceName    string         `yaml:"serviceName"`
		Management     string         `yaml:"podManagementPolicy"`
		ClusterIP      string         `yaml:"clusterIP"`
		NotReady       bool           `yaml:"publishNotReadyAddresses"`
		Ports          []port         `yaml:"ports"`
		MaxUnavailable int            `yaml:"maxUnavailable"`
		Selector       map[string]any `yaml:"selector"`
		Template       struct {
			Metadata struct {
				Labels map[string]string `yaml:"labels"`
			} `yaml:"metadata"`
			Spec pod `yaml:"spec"`
		} `yaml:"template"`
		Claims []object `yaml:"volumeClaimTemplates"`

		PolicyTypes []string     `yaml:"policyTypes"`
		Ingress     []policyRule `yaml:"ingress"`
		Egress      []policyRule `yaml:"egress"`
	} `yaml:"spec"`
}

// policyRule is one of a network policy: the ports, and where from or to.
type policyRule struct {
	From, To []struct {
		PodSelector *struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		} `yaml:"podSelector"`
		IPBlock *struct {
			CIDR   string   `yaml:"cidr"`
			Except []string `yaml:"except"`
		} `yaml:"ipBlock"`
	}
	Ports []struct {
		Port string `yaml:"port"`
	} `yaml:"ports"`
}

type port struct {
	Name      string `yaml:"name"`
	Port      int    `yaml:"port"`
	Container int    `yaml:"containerPort"`
	Target    string `yaml:"targetPort"`
}

type pod struct {
	GraceSeconds int `yaml:"terminationGracePeriodSeconds"`
	Security     struct {
		NonRoot bool `yaml:"runAsNonRoot"`
		FSGroup int  `yaml:"fsGroup"`
	} `yaml:"securityContext"`
	Containers []struct {
		Ports     []port `yaml:"ports"`
		Startup   probe  `yaml:"startupProbe"`
		Liveness  probe  `yaml:"livenessProbe"`
		Readiness probe  `yaml:"readinessProbe"`
		Security  struct {
			ReadOnly bool `yaml:"readOnlyRootFilesystem"`
		} `yaml:"securityContext"`
		Mounts []struct {
			Name string `yaml:"name"`
			Path string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	} `yaml:"containers"`
}

type probe struct {
	Get struct {
		Path string `yaml:"path"`
		Port string `yaml:"port"`
	} `yaml:"httpGet"`
	PeriodSeconds int `yaml:"periodSeconds"`
	Failures      int `yaml:"failureThreshold"`
}

// manifests returns the objects that the kustomization names, by kind and name.
func manifests(t *testing.T) map[string]object {
	t.Helper()
	list := parse[struct {
		Resources []string `yaml:"resources"`
	}](t, "deploy", "kubernetes", "kustomization.yaml")[0].Resources
	entries, err := os.ReadDir("kubernetes")
	if err != nil || len(entries) != len(list)+1 {
		t.Fatalf("%d files and %d resources, %v: a file is not in the kustomization", len(entries), len(list), err)
	}
	objects := map[string]object{}
	for _, name := range list {
		for _, o := range parse[object](t, "deploy", "kubernetes", name) {
			objects[o.Kind+"/"+o.Metadata.Name] = o
		}
	}
	return objects
}

// TestStatefulSet: the pods can find one another before they are ready, start together, end in good order,
// and keep their data.
func TestStatefulSet(t *testing.T) {
	objects := manifests(t)
	set := objects["StatefulSet/carillon"].Spec
	peers := objects["Service/"+set.ServiceName].Spec
	if set.Replicas != 3 || set.Management != "Parallel" || peers.ClusterIP != "None" || !peers.NotReady {
		t.Errorf("%d replicas, started %s; peers: %+v", set.Replicas, set.Management, peers)
	}
	var routes []string
	for i := range set.Replicas {
		routes = append(routes, fmt.Sprintf("carillon-%d.%s:%d", i, set.ServiceName, peers.Ports[0].Port))
	}
	if got := objects["ConfigMap/carillon"].Data["CARILLON_ROUTES"]; got != strings.Join(routes, ",") {
		t.Errorf("routes %s; want %s", got, routes)
	}
	if got := objects["PodDisruptionBudget/carillon"].Spec.MaxUnavailable; got != 1 {
		t.Errorf("%d nodes may be away at once; want 1", got)
	}
	p := set.Template.Spec
	if grace := time.Duration(p.GraceSeconds) * time.Second; grace < stopTimeout+afterStop || !p.Security.NonRoot || p.Security.FSGroup != 65532 {
		t.Errorf("grace %s, %+v", grace, p.Security)
	}
	c := p.Containers[0]
	if c.Mounts[0].Path != "/data" || c.Mounts[0].Name != set.Claims[0].Metadata.Name || !c.Security.ReadOnly {
		t.Errorf("mounts %+v, claims %+v", c.Mounts, set.Claims)
	}
	if c.Startup.Get.Path != "/healthz" || c.Liveness.Get.Path != "/healthz" || c.Readiness.Get.Path != "/readyz" {
		t.Errorf("probes: %+v, %+v, %+v", c.Startup, c.Liveness, c.Readiness)
	}
	if c.Startup.PeriodSeconds*c.Startup.Failures < 600 {
		t.Error("a node that waits for the others is killed within ten minutes")
	}
}

// TestServices: each selects the pods, and leads to ports that they have.
func TestServices(t *testing.T) {
	objects := manifests(t)
	template := objects["StatefulSet/carillon"].Spec.Template
	var have []string
	for _, p := range template.Spec.Containers[0].Ports {
		have = append(have, fmt.Sprint(p.Name, p.Container))
	}
	for _, name := range []string{"carillon", "carillon-peers"} {
		s := objects["Service/"+name].Spec
		for _, p := range s.Ports {
			if !slices.Contains(have, fmt.Sprint(p.Target, p.Port)) {
				t.Errorf("%s: the pods have no port %s %d", name, p.Target, p.Port)
			}
		}
		for key, value := range s.Selector {
			if template.Metadata.Labels[key] != value {
				t.Errorf("%s selects %s=%s", name, key, value)
			}
		}
		if len(s.Ports) == 0 || len(s.Selector) == 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestNetworkPolicy: each port of the pods is opened once, the peers' to the nodes only; and what leaves the pods goes
// to named places, of which none is private.
func TestNetworkPolicy(t *testing.T) {
	objects := manifests(t)
	policy, template := objects["NetworkPolicy/carillon"].Spec, objects["StatefulSet/carillon"].Spec.Template
	if !slices.Equal(policy.PolicyTypes, []string{"Ingress", "Egress"}) {
		t.Errorf("the policy is for %v", policy.PolicyTypes)
	}
	opened := map[string]bool{}
	for _, r := range policy.Ingress {
		toNodes := len(r.From) == 1 && maps.Equal(r.From[0].PodSelector.MatchLabels, template.Metadata.Labels)
		for _, p := range r.Ports {
			if opened[p.Port] || toNodes != (p.Port == "peers") || len(r.From) == 0 {
				t.Errorf("port %s is open to %+v", p.Port, r.From)
			}
			opened[p.Port] = true
		}
	}
	for _, p := range template.Spec.Containers[0].Ports {
		if !opened[p.Name] {
			t.Errorf("port %s is closed", p.Name)
		}
	}
	for _, r := range policy.Egress {
		if len(r.To) == 0 || len(r.Ports) == 0 {
			t.Errorf("%+v lets everything out", r)
		}
		for _, to := range r.To {
			if to.IPBlock != nil && strings.Contains(to.IPBlock.CIDR, ".") && !slices.Contains(to.IPBlock.Except, "169.254.0.0/16") {
				t.Errorf("%s has the addresses of metadata", to.IPBlock.CIDR)
			}
		}
	}
}

// TestHTTPHosts: the names of the service are those by which HTTP may be asked.
func TestHTTPHosts(t *testing.T) {
	hosts := strings.Split(manifests(t)["ConfigMap/carillon"].Data["CARILLON_HTTP_HOSTS"], ",")
	for _, want := range []string{"carillon", "carillon.carillon.svc", "carillon.carillon.svc.cluster.local", "localhost"} {
		if !slices.Contains(hosts, want) {
			t.Errorf("%v lack %s", hosts, want)
		}
	}
}
