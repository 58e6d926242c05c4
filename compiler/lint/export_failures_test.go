package lint

// BackupWay is the fabric that examples of ROCE822 vary.
var BackupWay = backupWay

// NetOf is the fabric that examples of rules on routing vary.
var NetOf = netOf

// StepsOf is what the proofs under a failure took.
func StepsOf(o *Outcome) int64 { return o.steps }
