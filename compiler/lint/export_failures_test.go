package lint

// BackupWay is the fabric that examples of ROCE822 vary.
var BackupWay = backupWay

// NetOf is the fabric that examples of rules on routing vary.
var NetOf = netOf
