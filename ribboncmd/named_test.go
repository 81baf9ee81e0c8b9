package ribboncmd_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

func TestKeys(t *testing.T) {
	atDesk(t, "group and pool follow from the key", func(d *desk) {
		for _, row := range []struct {
			key         ribboncmd.Key
			group, pool string
		}{
			{ribboncmd.Key{Command: "a"}, "a", "a"},
			{ribboncmd.Key{Command: "b", Group: "g"}, "g", "g"},
			{ribboncmd.Key{Command: "c", Group: "g", Pool: "p"}, "g", "p"},
		} {
			d.do(&ribboncmd.Task[string]{Key: row.key, Run: value("v")}).want(d, "v", ribboncmd.Success, ribboncmd.EventSuccess)
			s := d.commands.Named(row.key).Snapshot()
			if s.Service != row.key.Command || s.Group != row.group || s.Settings.Pool.Key != row.pool {
				d.Errorf("%+v: command %s, group %s, pool %s", row.key, s.Service, s.Group, s.Settings.Pool.Key)
			}
		}
		if n := len(d.commands.Pools()); n != 3 {
			d.Errorf("%d pools", n)
		}
	})
	atDesk(t, "Q17 settings of the configuration in force count", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: value("v")}).want(d, "v", ribboncmd.Success, ribboncmd.EventSuccess)
		d.configure(func(s *ribboncmd.Settings) { s.Breaker.ForceOpen = true })
		d.do(&ribboncmd.Task[string]{Run: value("v")}).
			want(d, "", ribboncmd.ShortCircuited, ribboncmd.EventShortCircuited, ribboncmd.EventFallbackMissing)
	})
	atDesk(t, "keys made up by clients do not fill the memory", func(d *desk) {
		d.semaphore(10)
		for i := range 20_000 {
			key := ribboncmd.Key{Command: strconv.Itoa(i)}
			if _, err := ribboncmd.Do(d.context(), key, value("v"), nil); err != nil {
				d.Fatal(err)
			}
		}
		if n := len(d.commands.Snapshots()); n > 10_000 {
			d.Errorf("%d commands are kept", n)
		}
	})
}

func ExampleDo() {
	commands := ribboncmd.New(nil) // a gateway brings its own, in the context of every request
	ctx := ribboncmd.NewContext(context.Background(), commands)

	country, err := ribboncmd.Do(ctx, ribboncmd.Key{Command: "geo", Group: "lookups"},
		func(context.Context) (string, error) { return "", fmt.Errorf("no route to %s", "geo.internal") },
		func(_ context.Context, cause *ribboncmd.Error) (string, error) {
			fmt.Println(cause.Outcome)
			return "unknown", nil
		})
	fmt.Println(country, err)
	// Output:
	// COMMAND_EXCEPTION
	// unknown <nil>
}
