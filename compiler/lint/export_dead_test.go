package lint

var (
	RangeHost  = rangeHost
	SmallPod   = smallPod
	PinnedTeam = pinnedTeam
	Windows    = windowsPair
	UnseenHost = unseenHosts
	LoneSwitch = loneSwitch
)
