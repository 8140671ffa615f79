// Package browser looks at the dashboard as a person does: in a real Chromium, with a mouse, a keyboard
// and eyes.
//
//	make browser        the stories below, as tests
//	make screenshots    the pictures in docs/screenshots
//
// It is a module of its own, so that Carillon itself does not depend on what drives the browser.
//
// # Real parts
//
// A [Stage] is a server with an embedded NATS on free ports and a directory of its own, and targets that
// do as they are told: a subject that is listened to, and an HTTP server that fails until it is mended.
// One Chromium serves all tests, and each has a [Tab] with a profile of its own. The package finds the
// Chromium of the system, and downloads none; install.sh installs it where Debian's packages are.
//
// # What is told
//
// The stories are those of people at work: a job is registered and seen firing, paused, resumed, triggered
// and deleted; a dead run is found, its target mended, and the run retried; by mouse, by keyboard alone,
// and with scripts switched off. A click is a mouse event at the middle of what is clicked, which must be
// visible and uncovered. What is live must show without a reload.
//
// # What holds on every page
//
// A tab writes down all that must not be: an error or a warning in the console, an exception, a
// violation of the content security policy, a dialog, a request to another origin. Each test ends with
// that list, and it must be empty. Besides, each page is looked at in light and in dark for the contrast
// of all its text, and on a narrow phone for what sticks out.
package browser
