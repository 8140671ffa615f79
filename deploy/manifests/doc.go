// Package manifests checks the manifests of deploy/kubernetes with the code of Kubernetes itself: kustomize builds them, and
// each object that comes out is decoded into its type of the API, where an unknown or repeated field is an error.
//
// It is a module of its own, so that the types of Kubernetes are no dependency of the server.
package manifests
