package machine_test

import (
	"net"
	"testing"

	"github.com/gozer-gateway/gozer/internal/machine"
)

func TestMachine(t *testing.T) {
	if ip := net.ParseIP(machine.Address()); ip == nil || ip.To4() == nil || ip.IsUnspecified() {
		t.Errorf("address %q", machine.Address())
	}
	if machine.Hostname() == "" {
		t.Error("no name")
	}
}
