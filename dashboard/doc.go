// Package dashboard is the pages that people see in a browser. They are made by the server from the
// requests of package client, and everything on them can be read and done without JavaScript. A small
// script replaces the parts of a page that change, as the server sends them.
//
// A page is a function that reads what it needs and returns a view; a view names its template, and the
// templates within it that are live. The stream of a page calls the same function again and sends the
// live templates whose text has changed, so that no figure is written in two ways.
//
// Nothing here knows passwords. Whoever reaches the port may do everything.
package dashboard
