package main

import "github.com/carillon-io/carillon/browser"

// shot is one picture.
type shot struct {
	page string // as browser.Stage.Pages calls it
	look string // of the file's name
	view browser.View
}

func (s shot) file() string { return s.page + "-" + s.look + ".png" }

// shots are all pictures: each page in light and in dark, and two on a phone.
func shots() (all []shot) {
	dark := func(v browser.View) browser.View {
		v.Dark = true
		return v
	}
	phone := browser.View{Width: 390, Height: 844, Phone: true}
	for _, page := range []string{
		"overview", "jobs", "job", "job-paused", "new", "edit", "runs", "dead-letters", "run-dead", "audit", "playground", "calendar", "backfill",
	} {
		all = append(all, shot{page, "light", browser.Desk}, shot{page, "dark", dark(browser.Desk)})
	}
	for _, page := range []string{"overview", "job", "calendar"} {
		all = append(all, shot{page, "phone-light", phone}, shot{page, "phone-dark", dark(phone)})
	}
	return all
}
