package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// resource is what a path names: its routes by method. Its keys have no HEAD: match treats a HEAD as a GET.
type resource map[string]*route

// collection is a kind of things with names. A name may contain slashes, so it extends over the whole path up to an
// action.
type collection struct {
	// item is the thing itself: the path that ends with its name.
	item resource
	// actions are the words that end a path behind a name: runs, pause, trigger.
	actions map[string]resource
}

// router finds routes by paths. It is not the mux of net/http, because that decodes a path before it matches, and
// could not tell a slash in a name from one that was escaped. Fixed after the start, and safe for concurrent use.
type router struct {
	plain map[string]resource // paths without a name
	// collections have names below them, by the first part of the path: jobs, runs, calendars.
	collections map[string]*collection
}

// theRouter is made once, when the program starts: its table is constant.
var theRouter = newRouter(routes)

// newRouter returns a router that points to the given routes.
func newRouter(routes []route) *router {
	t := &router{plain: make(map[string]resource), collections: make(map[string]*collection)}
	for i := range routes {
		r := &routes[i]
		t.resourceOf(r)[r.method] = r
	}
	return t
}

// resourceOf returns the resource of a route's path, and creates it if necessary.
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

// match finds the route of a method and of a path as it was sent, with its escapes, and the name in the path. Without
// a route, allow lists the methods of the path; if it is empty too, the path does not exist.
//
// The last part of a path is an action whenever it is the word for one, whatever the method. A job whose name ends
// with such a word is reached with the slash before the word written as %2F. Paths without a name come first, so
// runs/retry is not the run with the id retry.
func (t *router) match(method, path string) (r *route, name string, allow []string) {
	rest, ok := strings.CutPrefix(path, apiRoot)
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

// named returns the resource of a path that contains a name; nil if there is none. Each part is unescaped after the
// path is split, so an escaped slash is part of a name and never separates.
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
	// At least one part must be left for the name: jobs/runs is the job called runs.
	if action := c.actions[parts[last]]; action != nil && last >= 2 {
		return action, strings.Join(parts[1:last], "/")
	}
	return c.item, strings.Join(parts[1:], "/")
}

// methodsOf lists the methods of resources in order, for the header Allow. HEAD is listed wherever GET is, because
// both are answered.
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

// pathTo returns the path of a thing by its name. It escapes the slashes in a name too, so that the path leads to the
// thing whatever its last part is.
func pathTo(collection, name string) string {
	return apiRoot + collection + "/" + url.PathEscape(name)
}
