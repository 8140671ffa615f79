// Package browser tests the dashboard in a real Chromium, with mouse, keyboard and checks of what is
// visible.
//
//	make browser        the stories below, as tests
//	make screenshots    the pictures in docs/screenshots
//
// It is a module of its own, so that Carillon itself does not depend on the library that drives the
// browser.
//
// # Real parts
//
// A [Stage] is a server with an embedded NATS on free ports and its own directory, and targets that the
// tests control: NATS subjects with a subscriber, and an HTTP server that fails until the test mends it.
// All tests share one Chromium; each has a [Tab] with its own profile. The package uses the Chromium of
// the system and downloads none; install.sh installs it on Debian.
//
// # The stories
//
// Each test is a story of a user at work: the user registers a job and sees it fire, pauses, resumes,
// triggers and deletes it; finds a dead run, mends its target and retries the run. The stories are told
// by mouse, by keyboard alone, and with scripts switched off. A click is a mouse event at the middle of
// the element, which must be visible and not covered. Live parts must change without a reload.
//
// # What holds on every page
//
// A tab records every fault: an error or a warning in the console, an exception, a violation of the
// content security policy, a dialog, a request to another origin. At the end of each test the list of
// faults must be empty. In addition, the contrast of all text on each page is checked in light and in
// dark colours, and the layout on a narrow phone for elements that are wider than the page.
package browser
