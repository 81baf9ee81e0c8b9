package e2e_test

import (
	"debug/elf"
	"runtime"
	"strings"
	"testing"
)

// Whatever finds methods by name at run time makes the linker keep all methods of all types
// (decision 8).
func TestBinaryHasNoMethodsForTheirNamesSake(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads ELF")
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil || len(symbols) < 1000 {
		t.Fatalf("%d symbols, %v", len(symbols), err)
	}
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "text/template.(*state).eval") {
			t.Fatal("the gateway is linked with ", s.Name)
		}
	}
}
