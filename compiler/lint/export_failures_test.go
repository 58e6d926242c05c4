package lint

// BackupWay is the fabric that examples of ROCE822 vary.
var BackupWay = backupWay
