package eureka_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

func TestHash(t *testing.T) {
	list := func(statuses ...eureka.Status) *eureka.Applications {
		a := &eureka.Applications{Applications: []eureka.Application{{Name: "A"}, {Name: "B"}}}
		for i, s := range statuses {
			app := &a.Applications[i%2]
			app.Instances = append(app.Instances, &eureka.Instance{Status: s})
		}
		return a
	}
	for name, row := range map[string]struct {
		list *eureka.Applications
		want string
	}{
		"eureka 51 two UP, one DOWN": {list(eureka.Up, eureka.Down, eureka.Up), "DOWN_1_UP_2_"},
		"eureka 51 empty":            {list(), ""},
		"in the order of the names": {
			list(eureka.Up, eureka.Unknown, eureka.Starting, eureka.OutOfService, eureka.Down),
			"DOWN_1_OUT_OF_SERVICE_1_STARTING_1_UNKNOWN_1_UP_1_",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.list.Hash(); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	amazon := eureka.DataCenter{Name: eureka.Amazon, Metadata: map[string]string{"instance-id": "i-1"}}
	for name, row := range map[string]struct {
		instance eureka.Instance
		want     string
	}{
		"the id": {eureka.Instance{ID: "a", HostName: "h", DataCenter: amazon}, "a"},
		"eureka 129 without one that of the data centre": {eureka.Instance{HostName: "h", DataCenter: amazon}, "i-1"},
		"an Amazon without id":                           {eureka.Instance{HostName: "h", DataCenter: eureka.DataCenter{Name: eureka.Amazon}}, "h"},
		"elsewhere the host":                             {eureka.Instance{HostName: "h", DataCenter: eureka.DataCenter{Name: eureka.MyOwn, Metadata: amazon.Metadata}}, "h"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.instance.Identity(); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestVIPs(t *testing.T) {
	i := eureka.Instance{VIPAddress: "users, Users-v2", SecureVIPAddress: "s"}
	if !i.HasVIP("users-V2") || !i.HasVIP("users") || i.HasVIP("user") || !i.HasSecureVIP("S") || i.HasSecureVIP("users") {
		t.Error("names of", i.VIPAddress, "not found, or too many")
	}
}

func TestNames(t *testing.T) {
	for _, s := range []eureka.Status{eureka.Unknown, eureka.Up, eureka.Down, eureka.Starting, eureka.OutOfService} {
		if got, ok := eureka.ParseStatus(s.String()); !ok || got != s {
			t.Errorf("%v reads as %v, %v", s, got, ok)
		}
	}
	for _, a := range []eureka.Action{eureka.NoAction, eureka.Added, eureka.Modified, eureka.Deleted} {
		if got := eureka.ParseAction(a.String()); got != a {
			t.Errorf("%v reads as %v", a, got)
		}
	}
	if _, ok := eureka.ParseStatus("up"); ok || eureka.ParseAction("added") != eureka.NoAction || eureka.Status(99).String() != "UNKNOWN" {
		t.Error("a name that is none was read")
	}
}

func TestCloneIsIndependent(t *testing.T) {
	i := &eureka.Instance{Metadata: map[string]string{"k": "v"}, DataCenter: eureka.DataCenter{Name: eureka.Amazon, Metadata: map[string]string{"a": "b"}}}
	c := i.Clone()
	c.Metadata["k"], c.DataCenter.Metadata["a"] = "x", "x"
	if i.Metadata["k"] != "v" || i.DataCenter.Metadata["a"] != "b" {
		t.Error("the clone shares maps")
	}
}
