package lab

// Disk is the file system of a simulated device, in memory.
type Disk struct{}
