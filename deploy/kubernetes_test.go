package deploy

import (
	"fmt"
	"maps"
	"path/filepath"
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
		Mounts []mount `yaml:"volumeMounts"`
	} `yaml:"containers"`
	Volumes []volume `yaml:"volumes"`
}

type mount struct {
	Name     string `yaml:"name"`
	Path     string `yaml:"mountPath"`
	ReadOnly bool   `yaml:"readOnly"`
}

type volume struct {
	Name   string `yaml:"name"`
	Secret struct {
		Name string `yaml:"secretName"`
		Mode int    `yaml:"defaultMode"`
	} `yaml:"secret"`
}

type probe struct {
	Get struct {
		Path   string `yaml:"path"`
		Port   string `yaml:"port"`
		Scheme string `yaml:"scheme"`
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
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil || len(files) != len(list)+1 {
		t.Fatalf("%d files and %d resources, %v: a file is not in the kustomization", len(files), len(list), err)
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
	for _, p := range []probe{c.Startup, c.Liveness, c.Readiness} {
		if p.Get.Scheme != "HTTPS" {
			t.Errorf("a probe speaks %q to a server with TLS", p.Get.Scheme)
		}
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

// certificate is one of cert-manager, or an issuer, as far as it is checked.
type certificate struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec struct {
		Secret string `yaml:"secretName"`
		IsCA   bool   `yaml:"isCA"`
		Issuer struct {
			Name string `yaml:"name"`
		} `yaml:"issuerRef"`
		Usages    []string `yaml:"usages"`
		Names     []string `yaml:"dnsNames"`
		Addresses []string `yaml:"ipAddresses"`
		CA        struct {
			Secret string `yaml:"secretName"`
		} `yaml:"ca"` // of an issuer
	} `yaml:"spec"`
}

// TestPeersCertificate: the certificate of the peers is for both ends of a connection, and its authority issues nothing
// else: whoever has a certificate of it is a node.
func TestPeersCertificate(t *testing.T) {
	all := map[string]certificate{}
	for _, name := range []string{"certificate.yaml", "peers.yaml"} {
		for _, c := range parse[certificate](t, "deploy", "kubernetes", "cert-manager", name) {
			all[c.Kind+"/"+c.Metadata.Name] = c
		}
	}
	made := all["Certificate/carillon-peers"].Spec
	if made.Secret != "carillon-peers" || !slices.Equal(made.Usages, []string{"server auth", "client auth"}) || len(made.Names) == 0 {
		t.Errorf("the certificate of the peers: %+v", made)
	}
	authority := all["Certificate/carillon-peers-ca"].Spec
	if issuer := all["Issuer/"+made.Issuer.Name].Spec; issuer.CA.Secret == "" || issuer.CA.Secret != authority.Secret || !authority.IsCA {
		t.Errorf("the issuer %s has the authority %+v; want %+v", made.Issuer.Name, issuer, authority)
	}
	for name, c := range all {
		if name != "Certificate/carillon-peers" && c.Kind == "Certificate" && c.Spec.Issuer.Name == made.Issuer.Name {
			t.Errorf("%s is from the authority of the peers", name)
		}
	}
}

// TestHTTPHosts: the names of the service are those by which HTTP may be asked, and the certificate has all of them.
func TestHTTPHosts(t *testing.T) {
	hosts := strings.Split(manifests(t)["ConfigMap/carillon"].Data["CARILLON_HTTP_HOSTS"], ",")
	made := parse[certificate](t, "deploy", "kubernetes", "cert-manager", "certificate.yaml")[0].Spec
	for _, want := range []string{"carillon", "carillon.carillon.svc", "carillon.carillon.svc.cluster.local", "localhost"} {
		if !slices.Contains(hosts, want) {
			t.Errorf("%v lack %s", hosts, want)
		}
	}
	for _, host := range hosts {
		if !slices.Contains(made.Names, host) {
			t.Errorf("the certificate lacks %s", host)
		}
	}
	if !slices.Contains(made.Addresses, "127.0.0.1") {
		t.Errorf("a command in a pod connects to 127.0.0.1; the certificate has %v", made.Addresses)
	}
}

// TestSecrets: each file that the settings name is in a mounted secret, which is read-only, and closed to other users.
func TestSecrets(t *testing.T) {
	objects := manifests(t)
	p := objects["StatefulSet/carillon"].Spec.Template.Spec
	at := map[string]string{} // the secret of each directory
	for _, v := range p.Volumes {
		i := slices.IndexFunc(p.Containers[0].Mounts, func(m mount) bool { return m.Name == v.Name })
		if i < 0 || !p.Containers[0].Mounts[i].ReadOnly || v.Secret.Mode != 0o440 {
			t.Fatalf("%+v is mounted by %+v", v, p.Containers[0].Mounts)
		}
		at[p.Containers[0].Mounts[i].Path] = v.Secret.Name
	}
	want := map[string]string{
		"CARILLON_AUTH": "carillon-auth/auth.yaml", "CARILLON_TLS_CA": "carillon-tls/ca.crt",
		"CARILLON_HTTP_TLS_CERT": "carillon-tls/tls.crt", "CARILLON_HTTP_TLS_KEY": "carillon-tls/tls.key",
		"CARILLON_LISTEN_TLS_CERT": "carillon-tls/tls.crt", "CARILLON_LISTEN_TLS_KEY": "carillon-tls/tls.key",
		"CARILLON_CLUSTER_TLS_CERT": "carillon-peers/tls.crt", "CARILLON_CLUSTER_TLS_KEY": "carillon-peers/tls.key",
		"CARILLON_CLUSTER_TLS_CA": "carillon-peers/ca.crt",
	}
	for name, value := range objects["ConfigMap/carillon"].Data {
		if got := at[filepath.Dir(value)] + "/" + filepath.Base(value); strings.HasPrefix(value, "/") && got != want[name] {
			t.Errorf("%s is %s; want %s", name, got, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("the settings lack %v", want)
	}
	if made := parse[certificate](t, "deploy", "kubernetes", "cert-manager", "certificate.yaml")[0].Spec.Secret; made != "carillon-tls" {
		t.Errorf("cert-manager makes %s", made)
	}
}
