.PHONY: build test check bench fuzz soak hosts update docs

# What the gate runs is in .ci/run; these are the short ways to parts of it.

build:
	go build -trimpath -o bin/rocec ./cmd/rocec

test:
	go test -timeout 30m ./...

check:
	.ci/run

bench:
	go test -run '^$$' -bench . -benchmem -timeout 3h ./...

fuzz:
	.ci/run fuzz

# A thousand random rollouts with random faults, and every row of docs/reliability.md.
soak:
	ROCEC_SOAK=1000 go test ./deploy/rollout -run TestRandom -count 1 -timeout 2h
	go test ./cmd/rocec -run Reliability -reliability -count 1 -timeout 1h

# rocec over Debian's own sshd, networkd and systemd: on twelve hosts in namespaces, and on two in the guest, across a loss of power,
# and all the way back; needs what .ci/run installs, and root. The gate has all of it but the way back and, in the guest, the change that nobody confirms.
hosts:
	ROCEC_SOAK=1 ROCEC_CHECKS=required go test . -run 'TestHosts|TestManyHosts' -count 1 -timeout 50m -v

# Rewrites the expectations of every package that has some; the diff is the review. A package without the flag would refuse it.
update:
	go test $$(git grep --untracked -lE 'flag\.Bool\("update"|targets/targettest"' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|') -update

# Rewrites docs/ from the values the program itself uses.
docs:
	go run ./cmd/rocec docs docs
