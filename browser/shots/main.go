// Command shots takes the pictures of the dashboard in docs/screenshots: of a server that it starts, furnishes
// and lets live for a while.
//
//	go run ./shots --out ../docs/screenshots
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/browser"
)

// The bounds of what the repository keeps.
const (
	pictureBytesMax = 250 << 10
	albumBytesMax   = 3 << 20
)

func main() {
	out := flag.String("out", filepath.Join("..", "docs", "screenshots"), "directory for the pictures")
	live := flag.Duration("live", 70*time.Second, "how long the server lives before the pictures are taken")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *live); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string, live time.Duration) (err error) {
	chromium, err := browser.Launch(ctx)
	if err != nil {
		return err
	}
	defer chromium.Close()
	dir, err := os.MkdirTemp("", "carillon-shots-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	stage, err := browser.Open(ctx, filepath.Join(dir, "data"), "alice@ops", "v1.0.0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close(context.WithoutCancel(ctx))) }()
	if err := stage.Furnish(ctx); err != nil {
		return err
	}
	fmt.Printf("the server at %s lives for %s\n", stage.URL, live)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(live):
	}
	return shoot(ctx, chromium, stage, out)
}

// shoot takes all pictures.
func shoot(ctx context.Context, chromium *browser.Chromium, stage *browser.Stage, out string) error {
	pages, err := stage.Pages(ctx)
	if err != nil {
		return err
	}
	tab, err := chromium.Tab(stage.URL)
	if err != nil {
		return err
	}
	defer tab.Close()
	album := 0
	for _, shot := range shots() {
		png, err := take(tab, stage.URL+pages[shot.page], shot)
		if err != nil {
			return err
		}
		if len(png) > pictureBytesMax {
			return fmt.Errorf("%s has %d bytes; want at most %d", shot.file(), len(png), pictureBytesMax)
		}
		album += len(png)
		if err := os.WriteFile(filepath.Join(out, shot.file()), png, 0o644); err != nil {
			return err
		}
		fmt.Printf("%-32s %4d KiB\n", shot.file(), len(png)>>10)
	}
	if album > albumBytesMax {
		return fmt.Errorf("the pictures have %d bytes; want at most %d", album, albumBytesMax)
	}
	return nil
}

// take takes one picture of a page that has settled.
func take(tab *browser.Tab, url string, s shot) ([]byte, error) {
	if err := tab.Look(s.view); err != nil {
		return nil, err
	}
	if err := tab.Open(url); err != nil {
		return nil, err
	}
	png, err := tab.Picture()
	if err != nil {
		return nil, err
	}
	if faults := tab.Faults(); len(faults) > 0 {
		return nil, fmt.Errorf("%s: %q", s.file(), faults)
	}
	return shrink(png)
}
