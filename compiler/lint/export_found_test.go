package lint

// The fabrics that examples vary, for tests of their variants.
var (
	TwoNodes     = twoNodes
	UnevenSpeed  = unevenSpeed
	TwoNodesEdit = twoNodesEdit
	Edit         = edit
	FoundHosts   = foundHosts
	FoundSwitch  = foundSwitch
	Clusters     = clusters
	SharedBuffer = sharedBuffer
	SharedPort   = sharedPort
	TwoTors      = twoTors
	FourNodes    = fourNodes
	DualPort     = dualPort
	Generations  = generations
	ClusterPair  = clusterPair
	TwoSpeeds    = twoSpeeds
	BothDCBX     = bothDCBX
	SharedQueue  = sharedQueue
	LongLink     = longLink
	BesideGPU    = besideGPU
)
