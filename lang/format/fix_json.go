package format

func fixJSON(_ string, src []byte, _ int) ([]byte, []Problem, *Problem) { return src, nil, nil }
