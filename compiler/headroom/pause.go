package headroom

// MaxPauseQuanta is the longest pause one frame can ask for (IEEE 802.3 31B.2,
// a 16-bit pause_time).
const MaxPauseQuanta = 65535

// ResponseQuanta returns the time in pause quanta of 512 bit times that a sender
// may take to obey a pause frame (IEEE 802.3 31B.3.7) [roce-theory A.3]. The
// figure for 800 Gb/s is the one of 400 Gb/s, as SONiC has it; that of 802.3df
// is unconfirmed. Other speeds are a *SpeedError.
func ResponseQuanta(mbps int64) (int64, error) {
	table := [...]speedRow{
		{10_000, 67},
		{25_000, 80},
		{40_000, 118},
		{50_000, 147},
		{100_000, 394},
		{200_000, 453},
		{400_000, 905},
		{800_000, 905},
	}
	return lookupSpeed(table[:], mbps, "pause response time")
}

// PauseNanos returns how long quanta pause quanta last at a speed, to the
// nearest nanosecond: quanta*512/rate [roce-theory A.11].
func PauseNanos(quanta, mbps int64) (int64, error) {
	var c calc
	c.atLeast("quanta", quanta, 0)
	c.atLeast("mbps", mbps, 1)
	return c.result(c.nearest(quanta, 512_000, mbps))
}

// QueueNanos returns the delay that bytes waiting in a queue mean at a speed, to
// the nearest nanosecond: K*8/G [roce-theory B.6].
func QueueNanos(bytes, mbps int64) (int64, error) {
	var c calc
	c.atLeast("bytes", bytes, 0)
	c.atLeast("mbps", mbps, 1)
	return c.result(c.nearest(bytes, 8_000, mbps))
}
