package filtertest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
)

// Run sends c through a chain of just these filters and returns c.Err. The
// phases follow each other as in the gateway: a post filter finds the Response
// that the test has put into c, an error filter runs when c.Err is set or
// another filter fails.
func Run(tb testing.TB, c *filters.Context, specs ...filters.Spec) error {
	tb.Helper()
	chain, err := filters.NewChain(specs, filters.Settings{Client: client(c)})
	if err != nil {
		tb.Fatalf("filtertest: %v", err)
	}
	chain.Serve(c)
	return c.Err
}

// Configured returns spec with settings that need no configuration file: its
// decode function copies settings, a struct of the filter's settings type.
func Configured(spec filters.Spec, settings any) filters.Spec {
	build := spec.New
	spec.New = func(func(any) error) (filters.Filter, error) {
		return build(func(into any) error { return assign(into, settings) })
	}
	return spec
}

func assign(into, settings any) error {
	target, value := reflect.ValueOf(into), reflect.ValueOf(settings)
	if target.Kind() != reflect.Pointer || target.Type().Elem() != value.Type() {
		return fmt.Errorf("filtertest: the filter decodes into %T, not into a pointer to %T", into, settings)
	}
	target.Elem().Set(value)
	return nil
}
