package manifests

import (
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// kinds are the types of the API that the manifests use.
var kinds = map[string]func() any{
	"v1 ConfigMap":                       func() any { return new(core.ConfigMap) },
	"v1 Service":                         func() any { return new(core.Service) },
	"batch/v1 Job":                       func() any { return new(batch.Job) },
	"apps/v1 StatefulSet":                func() any { return new(apps.StatefulSet) },
	"policy/v1 PodDisruptionBudget":      func() any { return new(policy.PodDisruptionBudget) },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return new(networking.NetworkPolicy) },
}

// built returns the objects that kubectl apply -k would send for a directory, decoded strictly, by kind and name.
func built(t *testing.T, dir string) map[string]any {
	t.Helper()
	list, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	objects := make(map[string]any)
	for _, r := range list.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		kind := r.GetApiVersion() + " " + r.GetKind()
		empty, ok := kinds[kind]
		if !ok {
			t.Fatalf("%s is of no kind that is known here", kind)
		}
		object := empty()
		if err := yaml.UnmarshalStrict(text, object); err != nil {
			t.Errorf("%s %s: %v", kind, r.GetName(), err)
		}
		objects[r.GetKind()+"/"+r.GetName()] = object
	}
	return objects
}

// TestManifests builds all objects and checks what only their types know.
func TestManifests(t *testing.T) {
	objects := built(t, "../kubernetes")
	set, ok := objects["StatefulSet/carillon"].(*apps.StatefulSet)
	if !ok || len(objects) != 6 {
		t.Fatalf("%d objects", len(objects))
	}
	pod := set.Spec.Template.Spec
	container := pod.Containers[0]
	if !strings.HasPrefix(container.Image, "registry.example.com/carillon:") {
		t.Errorf("the image is %s: kustomize did not replace it", container.Image)
	}
	ports := make(map[string]bool)
	for _, p := range container.Ports {
		ports[p.Name] = true
	}
	for _, p := range []intstr.IntOrString{container.StartupProbe.HTTPGet.Port, container.LivenessProbe.HTTPGet.Port, container.ReadinessProbe.HTTPGet.Port} {
		if !ports[p.String()] {
			t.Errorf("a probe asks at %s", p.String())
		}
	}
	if request, limit := container.Resources.Requests[core.ResourceMemory], container.Resources.Limits[core.ResourceMemory]; request.Cmp(limit) > 0 {
		t.Errorf("the pod requests %s and may have %s", request.String(), limit.String())
	}
	mounted := map[string]bool{set.Spec.VolumeClaimTemplates[0].Name: true}
	for _, v := range pod.Volumes {
		mounted[v.Name] = true
		if v.Secret == nil || v.Secret.DefaultMode == nil || *v.Secret.DefaultMode != 0o440 {
			t.Errorf("the volume %s is no secret that others cannot read: %+v", v.Name, v.Secret)
		}
	}
	for _, m := range container.VolumeMounts {
		if !mounted[m.Name] || m.SubPath != "" {
			t.Errorf("%s is no volume, or a part of one", m.Name)
		}
	}
	for _, e := range container.Env {
		if strings.Contains(e.Name, "PASSWORD") && (e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil || e.Value != "") {
			t.Errorf("%s is not in a secret", e.Name)
		}
	}
	if size := set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[core.ResourceStorage]; size.Value() < 1<<30 {
		t.Errorf("a volume has %s", size.String())
	}
}

// TestStrict: a field that does not exist is an error, so that a typo in a manifest does not pass.
func TestStrict(t *testing.T) {
	for _, text := range []string{"spec: {replica: 3}", "spec: {replicas: 3, replicas: 2}", "spec: {replicas: three}"} {
		if err := yaml.UnmarshalStrict([]byte(text), new(apps.StatefulSet)); err == nil {
			t.Errorf("%s passes", text)
		}
	}
}
