package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"slices"
)

// A picture has the colours that cover most of it as they are, and of the others the commonest of each kind.
const (
	coloursMax  = 256
	coloursAsIs = 96
)

// shrink writes a picture of a page with coloursMax colours, which takes a third of the bytes and looks the
// same: a page is flat colours and the edges of letters.
func shrink(data []byte) ([]byte, error) {
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	small := image.NewPaletted(picture.Bounds(), palette(picture))
	known := map[color.Color]uint8{}
	each(picture, func(x, y int, c color.Color) {
		i, ok := known[c]
		if !ok {
			i = uint8(small.Palette.Index(c))
			known[c] = i
		}
		small.SetColorIndex(x, y, i)
	})
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, small)
	return out.Bytes(), err
}

// palette chooses the colours of a picture.
func palette(picture image.Image) (chosen color.Palette) {
	type kind [3]uint32
	seen := map[kind]bool{}
	var rest []color.Color
	for i, c := range byFrequency(picture) {
		r, g, b, _ := c.RGBA()
		k := kind{r >> 12, g >> 12, b >> 12}
		switch {
		case i < coloursAsIs || !seen[k] && len(chosen) < coloursMax:
			chosen = append(chosen, c)
		default:
			rest = append(rest, c)
		}
		seen[k] = true
	}
	return append(chosen, rest[:min(len(rest), coloursMax-len(chosen))]...)
}

// byFrequency returns the colours of a picture, the most frequent first.
func byFrequency(picture image.Image) []color.Color {
	count := map[color.Color]int{}
	each(picture, func(_, _ int, c color.Color) { count[c]++ })
	colours := make([]color.Color, 0, len(count))
	for c := range count {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.Color) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), compare(a, b))
	})
	return colours
}

// compare puts colours in an order, so that the same picture always gives the same bytes.
func compare(a, b color.Color) int {
	r, g, bl, al := a.RGBA()
	r2, g2, b2, al2 := b.RGBA()
	return slices.Compare([]uint32{r, g, bl, al}, []uint32{r2, g2, b2, al2})
}

func each(picture image.Image, visit func(x, y int, c color.Color)) {
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			visit(x, y, picture.At(x, y))
		}
	}
}
