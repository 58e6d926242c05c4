// Package observe reads devices over sessions: it runs the probes of a target and
// returns what they printed as captures, the same that an operator would have
// collected by hand. It changes nothing on a device but a folder of its own, for
// a program that reads. What captures mean is left to the targets.
package observe
