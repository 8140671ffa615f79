package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// resource is what a path names: its routes by their methods.
type resource map[string]*route

// collection is a kind of things with names. A name may have slashes, so that it takes all of a path up
// to an action.
type collection struct {
	item    resource
	actions map[string]resource
}

// router finds routes by paths.
type router struct {
	plain       map[string]resource // the paths without a name
	collections map[string]*collection
}

var theRouter = newRouter(routes)

func newRouter(routes []route) *router {
	t := &router{plain: make(map[string]resource), collections: make(map[string]*collection)}
	for i := range routes {
		r := &routes[i]
		t.resourceOf(r)[r.method] = r
	}
	return t
}

// resourceOf returns what the path of a route names, and makes it if it is new.
func (t *router) resourceOf(r *route) resource {
	within, key := t.plain, r.path
	if r.member() != "" {
		head, _, _ := strings.Cut(r.path, "/")
		c := t.collections[head]
		if c == nil {
			c = &collection{item: make(resource), actions: make(map[string]resource)}
			t.collections[head] = c
		}
		if r.action() == "" {
			return c.item
		}
		within, key = c.actions, r.action()
	}
	if within[key] == nil {
		within[key] = make(resource)
	}
	return within[key]
}

// match finds the route of a method and a path as it was sent, with its escapes, and the name in the
// path. Without a route, allow lists the methods that the path has; none means that there is no such path.
//
// The last part of a path is an action whenever it is the word for one, whatever the method: a job whose
// name ends like that is reached with the slash before it written as %2F.
func (t *router) match(method, path string) (r *route, name string, allow []string) {
	rest, ok := strings.CutPrefix(path, httpRoot)
	if !ok {
		return nil, "", nil
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	plain := t.plain[rest]
	if r := plain[method]; r != nil {
		return r, "", nil
	}
	named, name := t.named(rest)
	if r := named[method]; r != nil {
		return r, name, nil
	}
	return nil, "", methodsOf(plain, named)
}

// named finds what a path with a name in it stands for; nil if nothing has such a path.
func (t *router) named(rest string) (resource, string) {
	parts := strings.Split(rest, "/")
	c := t.collections[parts[0]]
	if c == nil || len(parts) < 2 {
		return nil, ""
	}
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return nil, ""
		}
		parts[i] = plain
	}
	last := len(parts) - 1
	if action := c.actions[parts[last]]; action != nil && last >= 2 {
		return action, strings.Join(parts[1:last], "/")
	}
	return c.item, strings.Join(parts[1:], "/")
}

// methodsOf lists the methods of resources in order, as the header Allow has them.
func methodsOf(resources ...resource) []string {
	var methods []string
	for _, res := range resources {
		for m := range res {
			methods = append(methods, m)
			if m == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// pathTo returns the path of a thing with a name.
func pathTo(collection, name string) string {
	return httpRoot + collection + "/" + url.PathEscape(name)
}
