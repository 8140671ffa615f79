package manifests

import (
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// TestExampleJob: the Job of examples/kubernetes reads the jobs from the ConfigMap that kustomize makes, and its token from
// a secret; it has neither more rights nor other settings than it needs. Its command is run by the tests of the examples.
func TestExampleJob(t *testing.T) {
	var job *batch.Job
	var jobs *core.ConfigMap
	for _, object := range built(t, "../../examples/kubernetes") {
		switch o := object.(type) {
		case *batch.Job:
			job = o
		case *core.ConfigMap:
			jobs = o
		}
	}
	if job == nil || jobs == nil || !strings.Contains(jobs.Data["jobs.yaml"], "billing/invoices") {
		t.Fatalf("the objects are %v and %v", job, jobs)
	}
	pod := job.Spec.Template.Spec
	container := pod.Containers[0]
	if !strings.HasPrefix(container.Image, "registry.example.com/carillon:") {
		t.Errorf("the image is %s: kustomize did not replace it", container.Image)
	}
	volumes := make(map[string]core.Volume)
	for _, v := range pod.Volumes {
		volumes[v.Name] = v
		if v.Secret != nil && (v.Secret.DefaultMode == nil || *v.Secret.DefaultMode != 0o440) {
			t.Errorf("others can read the secret %s", v.Name)
		}
	}
	paths := make(map[string]string)
	for _, m := range container.VolumeMounts {
		if _, ok := volumes[m.Name]; !ok || !m.ReadOnly {
			t.Errorf("%s is no volume, or can be written to", m.Name)
		}
		paths[m.MountPath] = m.Name
	}
	if c := volumes[paths["/jobs"]].ConfigMap; c == nil || c.Name != jobs.Name || !slices.Contains(container.Args, "/jobs/jobs.yaml") {
		t.Errorf("the Job reads %v from %v; want the ConfigMap %s", container.Args, c, jobs.Name)
	}
	for _, e := range container.Env {
		dir, _, isPath := cutLast(e.Value)
		switch {
		case e.Name == "CARILLON_TOKEN":
			t.Error("the token is a variable")
		case (strings.HasSuffix(e.Name, "_FILE") || strings.HasSuffix(e.Name, "_CA")) && (!isPath || volumes[paths[dir]].Secret == nil):
			t.Errorf("%s is %s, which is in no secret", e.Name, e.Value)
		}
	}
	if pod.RestartPolicy != core.RestartPolicyOnFailure || job.Spec.BackoffLimit == nil || job.Spec.ActiveDeadlineSeconds == nil || job.Spec.TTLSecondsAfterFinished == nil {
		t.Error("the Job has no bound")
	}
	if s := container.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || pod.SecurityContext.RunAsNonRoot == nil {
		t.Error("the container may do more than it needs")
	}
}

// cutLast splits a path at its last slash.
func cutLast(path string) (dir, name string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}
