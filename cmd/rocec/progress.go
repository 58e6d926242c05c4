package main

import (
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// manyDevices is the number above which work on devices shows how far it is.
const manyDevices = 50

// steps counts work: one is done, all are.
type steps struct{ one, end func() }

// progress shows on a terminal how many of the devices are done. Elsewhere, and
// for a few devices, it shows nothing.
func (a *app) progress(what string, total int) steps {
	if total <= manyDevices || a.quiet || a.json || !terminal(a.err) {
		return steps{func() {}, func() {}}
	}
	bars := mpb.New(mpb.WithOutput(fileOf(a.err)), mpb.WithWidth(40))
	bar := bars.AddBar(int64(total), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(what+" ")), mpb.AppendDecorators(decor.CountersNoUnit("%d of %d devices")))
	return steps{bar.Increment, func() {
		bar.Abort(true) // leaves no line behind, be it complete or not
		bars.Wait()
	}}
}
