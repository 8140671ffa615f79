package testkit

import "testing"

// TestSeedIsFixedByTheVariable: with CARILLON_SEED set a test draws the same seeds in each process, without it others.
func TestSeedIsFixedByTheVariable(t *testing.T) {
	t.Setenv(seedVariable, "7")
	first, second := Seed(t), Seed(t)
	if first != fixedSeed("7", t.Name(), 0) || second != fixedSeed("7", t.Name(), 1) || first == second {
		t.Errorf("drew %d and %d", first, second)
	}
	t.Setenv(seedVariable, "8")
	if other := fixedSeed("8", t.Name(), 0); other == first {
		t.Error("two values of the variable give one seed")
	}
	t.Setenv(seedVariable, "")
	if first, second = Seed(t), Seed(t); first == second {
		t.Error("two random seeds are equal")
	}
}
